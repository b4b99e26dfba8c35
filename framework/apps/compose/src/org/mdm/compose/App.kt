package org.mdm.compose

import androidx.activity.ComponentActivity
import androidx.activity.compose.setContent
import androidx.compose.foundation.isSystemInDarkTheme
import androidx.compose.foundation.layout.Box
import androidx.compose.foundation.layout.padding
import androidx.compose.material.icons.Icons
import androidx.compose.material.icons.filled.Star
import androidx.compose.material3.Icon
import androidx.compose.material3.MaterialTheme
import androidx.compose.material3.NavigationBar
import androidx.compose.material3.NavigationBarItem
import androidx.compose.material3.Scaffold
import androidx.compose.material3.Text
import androidx.compose.material3.darkColorScheme
import androidx.compose.material3.lightColorScheme
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.remember
import androidx.compose.ui.Modifier
import androidx.compose.ui.focus.onFocusChanged
import androidx.compose.ui.layout.boundsInWindow
import androidx.compose.ui.layout.onGloballyPositioned

/** Shows the app in an activity, and leaves its state where a test finds it. */
fun show(activity: ComponentActivity) {
    val state = AppState()
    activity.setContent {
        val colors = if (isSystemInDarkTheme()) darkColorScheme() else lightColorScheme()
        MaterialTheme(colors) { App(state) }
    }
    activity.findViewById<android.view.ViewGroup>(android.R.id.content).getChildAt(0).tag = state
}

@Composable
private fun App(state: AppState) {
    Scaffold(bottomBar = { Navigation(state) }) { inner ->
        Box(Modifier.padding(inner)) {
            when (state.page) {
                "Form" -> FormPage(state)
                "Settings" -> SettingsPage(state)
                "Items" -> ItemsPage(state)
                "Tabs" -> TabsPage(state)
                else -> WindowsPage(state)
            }
        }
    }
}

@Composable
private fun Navigation(state: AppState) {
    NavigationBar {
        for (page in PAGES) {
            NavigationBarItem(
                selected = state.page == page,
                onClick = { state.page = page },
                modifier = Modifier.told(state, if (state.page == page) "selected" else "control"),
                icon = { Icon(Icons.Filled.Star, contentDescription = null) },
                label = { Words(page, state) },
            )
        }
    }
}

/** A text that notes where it can be seen. */
@Composable
fun Words(text: String, state: AppState, modifier: Modifier = Modifier) {
    Text(text, modifier.told(state, "words", text))
}

/** Notes what is shown here, for the test: words, a field, a secret, a value, or a control and its state. */
@Composable
fun Modifier.told(state: AppState, kind: String, text: String = ""): Modifier {
    val place = remember { Place() }
    place.kind = kind
    place.text = text
    DisposableEffect(place) {
        state.places.add(place)
        onDispose { state.places.remove(place) }
    }
    return onFocusChanged { place.focused = it.isFocused }
        .onGloballyPositioned { place.bounds = it.boundsInWindow() }
}
