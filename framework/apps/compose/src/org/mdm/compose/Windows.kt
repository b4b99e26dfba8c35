package org.mdm.compose

import androidx.compose.foundation.layout.Column
import androidx.compose.foundation.layout.padding
import androidx.compose.material3.AlertDialog
import androidx.compose.material3.Button
import androidx.compose.material3.DropdownMenuItem
import androidx.compose.material3.ExperimentalMaterial3Api
import androidx.compose.material3.ExposedDropdownMenuBox
import androidx.compose.material3.MenuAnchorType
import androidx.compose.material3.ModalBottomSheet
import androidx.compose.material3.Text
import androidx.compose.material3.TextButton
import androidx.compose.material3.TextField
import androidx.compose.runtime.Composable
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.ui.Modifier
import androidx.compose.ui.unit.dp

@Composable
fun WindowsPage(state: AppState) {
    var asks by remember { mutableStateOf(false) }
    var shares by remember { mutableStateOf(false) }
    Column(Modifier.padding(16.dp)) {
        Country(state)
        Button({ asks = true }, Modifier.told(state, "control")) { Words("Ask", state) }
        Button({ shares = true }, Modifier.told(state, "control")) { Words("Share", state) }
        Words(state.told, state)
    }
    if (asks) {
        Question(state) { asks = false }
    }
    if (shares) {
        Sheet(state) { shares = false }
    }
}

@OptIn(ExperimentalMaterial3Api::class)
@Composable
private fun Country(state: AppState) {
    var open by remember { mutableStateOf(false) }
    ExposedDropdownMenuBox(open, { open = it }) {
        TextField(
            state.country,
            {},
            Modifier.menuAnchor(MenuAnchorType.PrimaryNotEditable).told(state, "field", state.country),
            readOnly = true,
            label = { Words("Country", state) },
        )
        ExposedDropdownMenu(open, { open = false }) {
            for (country in COUNTRIES) {
                DropdownMenuItem(
                    { Text(country) },
                    {
                        state.country = country
                        open = false
                    },
                )
            }
        }
    }
}

@Composable
private fun Question(state: AppState, close: () -> Unit) {
    AlertDialog(
        onDismissRequest = close,
        title = { Text("Delete everything?") },
        confirmButton = {
            TextButton({
                state.told = "Everything deleted"
                close()
            }) {
                Text("Yes")
            }
        },
        dismissButton = { TextButton(close) { Text("No") } },
    )
}

@OptIn(ExperimentalMaterial3Api::class)
@Composable
private fun Sheet(state: AppState, close: () -> Unit) {
    ModalBottomSheet(close) {
        Text("Share with", Modifier.padding(16.dp))
        TextButton({
            state.told = "Link copied"
            close()
        }) {
            Text("Copy link")
        }
    }
}
