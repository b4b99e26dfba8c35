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
        TextField(state.name, { state.name = it }, label = { Words("Name", state) }, singleLine = true)
        OutlinedTextField(
            state.secret,
            { state.secret = it },
            label = { Words("Password", state) },
            singleLine = true,
            visualTransformation = PasswordVisualTransformation(),
        )
        Button(onClick = { state.told = "Saved ${state.name}" }) { Words("Save", state) }
        Button(onClick = {}, enabled = false) { Words("Closed", state) }
        Words(state.told, state)
    }
}

@Composable
fun SettingsPage(state: AppState) {
    Column(Modifier.padding(16.dp)) {
        Toggled("Wi-Fi", Role.Switch, state) { Switch(it, null) }
        Toggled("Newsletter", Role.Checkbox, state) { Checkbox(it, null) }
        Row(verticalAlignment = Alignment.CenterVertically) {
            Checkbox(state.on["Sounds"] == true, { state.on["Sounds"] = it })
            Words("Sounds", state)
        }
        for (way in listOf("Standard", "Express")) {
            val chosen = state.delivery == way
            Row(
                Modifier.fillMaxWidth()
                    .selectable(chosen, role = Role.RadioButton) { state.delivery = way }
                    .padding(12.dp)
            ) {
                RadioButton(chosen, null)
                Words(way, state)
            }
        }
        Words("Volume ${state.volume.toInt()}", state)
        Slider(state.volume, { state.volume = it }, valueRange = 0f..100f)
        Row {
            for (chip in listOf("Fresh", "Sale")) {
                FilterChip(state.on[chip] == true, { state.on[chip] = state.on[chip] != true }, { Words(chip, state) })
                Spacer(Modifier.padding(4.dp))
            }
            AssistChip({ state.told = "Asked" }, { Words("Ask us", state) })
        }
        LinearProgressIndicator(progress = { 0.4f })
    }
}

/** A row that is on or off as a whole. */
@Composable
private fun Toggled(name: String, role: Role, state: AppState, control: @Composable (Boolean) -> Unit) {
    val isOn = state.on[name] == true
    Row(
        Modifier.fillMaxWidth().toggleable(isOn, role = role) { state.on[name] = it }.padding(8.dp),
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
                TextButton(onClick = { state.delete(item) }) { Words("Delete", state) }
            }
        }
    }
}

@Composable
fun TabsPage(state: AppState) {
    Column {
        TabRow(TABS.indexOf(state.tab)) {
            for (tab in TABS) {
                Tab(state.tab == tab, { state.tab = tab }, text = { Words(tab, state) })
            }
        }
        Words("This is ${state.tab}", state, Modifier.padding(24.dp))
    }
}
