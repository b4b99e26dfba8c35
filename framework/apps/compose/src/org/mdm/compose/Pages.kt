package org.mdm.compose

import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.Row
import androidx.compose.foundation.layout.Spacer
import androidx.compose.foundation.layout.fillMaxWidth
import androidx.compose.foundation.layout.padding
import androidx.compose.foundation.lazy.LazyColumn
import androidx.compose.foundation.lazy.items
import androidx.compose.foundation.selection.selectable
import androidx.compose.foundation.selection.toggleable
import androidx.compose.material3.AssistChip
import androidx.compose.material3.Button
import androidx.compose.material3.Checkbox
import androidx.compose.material3.FilterChip
import androidx.compose.material3.LinearProgressIndicator
import androidx.compose.material3.OutlinedTextField
import androidx.compose.material3.RadioButton
import androidx.compose.material3.Slider
import androidx.compose.material3.Switch
import androidx.compose.material3.Tab
import androidx.compose.material3.TabRow
import androidx.compose.material3.TextButton
import androidx.compose.material3.TextField
import androidx.compose.runtime.Composable
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.semantics.Role
import androidx.compose.ui.text.input.PasswordVisualTransformation
import androidx.compose.ui.unit.dp

@Composable
fun FormPage(state: AppState) {
    Column(Modifier.padding(16.dp)) {
        TextField(
            state.name,
            { state.name = it },
            Modifier.told(state, "field", state.name),
            label = { Words("Name", state) },
            singleLine = true,
        )
        OutlinedTextField(
            state.secret,
            { state.secret = it },
            Modifier.told(state, "secret", state.secret),
            label = { Words("Password", state) },
            singleLine = true,
            visualTransformation = PasswordVisualTransformation(),
        )
        Button({ state.told = "Saved ${state.name}" }, Modifier.told(state, "control")) { Words("Save", state) }
        Button({}, Modifier.told(state, "disabled"), enabled = false) { Words("Closed", state) }
        Words(state.told, state)
    }
}

@Composable
fun SettingsPage(state: AppState) {
    Column(Modifier.padding(16.dp)) {
        Toggled("Wi-Fi", Role.Switch, state) { Switch(it, null) }
        Toggled("Newsletter", Role.Checkbox, state) { Checkbox(it, null) }
        Row(verticalAlignment = Alignment.CenterVertically) {
            val sounds = state.on["Sounds"] == true
            Checkbox(sounds, { state.on["Sounds"] = it }, Modifier.told(state, checked(sounds)))
            Words("Sounds", state)
        }
        for (way in listOf("Standard", "Express")) {
            val chosen = state.delivery == way
            Row(
                Modifier.fillMaxWidth()
                    .told(state, checked(chosen))
                    .selectable(chosen, role = Role.RadioButton) { state.delivery = way }
                    .padding(12.dp)
            ) {
                RadioButton(chosen, null)
                Words(way, state)
            }
        }
        Words("Volume ${state.volume.toInt()}", state)
        val volume = Modifier.told(state, "value", state.volume.toInt().toString())
        Slider(state.volume, { state.volume = it }, volume, valueRange = 0f..100f)
        Row {
            for (chip in listOf("Fresh", "Sale")) {
                val isOn = state.on[chip] == true
                val modifier = Modifier.told(state, checked(isOn))
                FilterChip(isOn, { state.on[chip] = !isOn }, { Words(chip, state) }, modifier)
                Spacer(Modifier.padding(4.dp))
            }
            AssistChip({ state.told = "Asked" }, { Words("Ask us", state) }, Modifier.told(state, "control"))
        }
        LinearProgressIndicator({ 0.4f }, Modifier.told(state, "value", "40"))
    }
}

private fun checked(isOn: Boolean) = if (isOn) "on" else "off"

/** A row that is on or off as a whole. */
@Composable
private fun Toggled(name: String, role: Role, state: AppState, control: @Composable (Boolean) -> Unit) {
    val isOn = state.on[name] == true
    Row(
        Modifier.fillMaxWidth()
            .told(state, checked(isOn))
            .toggleable(isOn, role = role) { state.on[name] = it }
            .padding(8.dp),
        verticalAlignment = Alignment.CenterVertically,
    ) {
        Words(name, state, Modifier.weight(1f))
        control(isOn)
    }
}

@Composable
fun ItemsPage(state: AppState) {
    LazyColumn {
        items(state.items) { item ->
            Row(
                Modifier.fillMaxWidth().padding(horizontal = 16.dp, vertical = 8.dp),
                verticalAlignment = Alignment.CenterVertically,
            ) {
                Words(item, state, Modifier.weight(1f))
                TextButton({ state.delete(item) }, Modifier.told(state, "control")) { Words("Delete", state) }
            }
        }
    }
}

@Composable
fun TabsPage(state: AppState) {
    Column {
        TabRow(TABS.indexOf(state.tab)) {
            for (tab in TABS) {
                val kind = if (state.tab == tab) "selected" else "control"
                Tab(state.tab == tab, { state.tab = tab }, Modifier.told(state, kind), text = { Words(tab, state) })
            }
        }
        Words("This is ${state.tab}", state, Modifier.padding(24.dp))
    }
}
