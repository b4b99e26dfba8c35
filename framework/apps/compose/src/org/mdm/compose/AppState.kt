package org.mdm.compose

import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableFloatStateOf
import androidx.compose.runtime.mutableStateListOf
import androidx.compose.runtime.mutableStateMapOf
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.compose.ui.geometry.Rect
import java.util.function.Supplier

/**
 * What the app knows of itself. Compose has no view objects that a test could read, so the app tells its state to who
 * asks for the tag of its view: nothing here goes through accessibility.
 */
class AppState : Supplier<Map<String, String>> {
    var page by mutableStateOf(PAGES[0])
    var name by mutableStateOf("")
    var secret by mutableStateOf("")
    var country by mutableStateOf("Austria")
    var told by mutableStateOf("Not saved")
    var volume by mutableFloatStateOf(30f)
    var delivery by mutableStateOf("Standard")
    var tab by mutableStateOf(TABS[0])
    val on = mutableStateMapOf("Wi-Fi" to true, "Fresh" to false, "Sale" to true)
    val items = mutableStateListOf<String>().apply { (1..COUNT).forEach { add("Item $it") } }
    val deleted = mutableStateListOf<String>()

    /** What is composed, and where it can be seen. */
    val places = mutableListOf<Place>()

    fun delete(item: String) {
        items.remove(item)
        deleted.add(item)
    }

    override fun get(): Map<String, String> =
        mapOf(
            "page" to page,
            "name" to name,
            "secret" to secret,
            "country" to country,
            "told" to told,
            "volume" to volume.toInt().toString(),
            "delivery" to delivery,
            "tab" to tab,
            "on" to on.filterValues { it }.keys.sorted().joinToString(),
            "deleted" to deleted.joinToString(),
            "count" to items.size.toString(),
            "places" to places.filter { !it.bounds.isEmpty }.joinToString("\n"),
        )
}

/** Something that the app shows: what it is, its words or value, whether it has the focus, and the part that is seen. */
class Place {
    var kind = ""
    var text = ""
    var focused = false
    var bounds = Rect.Zero

    override fun toString(): String {
        val sides = listOf(bounds.left, bounds.top, bounds.right, bounds.bottom)
        return "$kind $focused ${sides.joinToString(",") { it.toInt().toString() }} $text"
    }
}

const val COUNT = 200
val PAGES = listOf("Form", "Settings", "Items", "Tabs", "Windows")
val TABS = listOf("Overview", "Reviews", "Photos")
val COUNTRIES = listOf("Austria", "Japan", "Peru")
