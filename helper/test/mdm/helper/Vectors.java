package mdm.helper;

import android.view.accessibility.AccessibilityEvent;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** Writes frames, each with a text that says what is in it, for the codec of the other side to be tested against. */
final class Vectors {
    private final File folder;

    private Vectors(File folder) {
        this.folder = folder;
    }

    static void write(File folder) throws Exception {
        Vectors vectors = new Vectors(folder);
        vectors.hellos();
        vectors.trees();
        vectors.input();
        vectors.others();
        vectors.events();
    }

    private void hellos() throws IOException {
        Bytes nonce = new Bytes();
        for (int at = 0; at < 16; at++) {
            nonce.u8(at * 17);
        }
        frame("hello-request", 1, Frames.HELLO, new Bytes().u16(1).append(nonce),
                "version=1 nonce=00112233445566778899aabbccddeeff");
        frame("hello-answer", 1, Frames.HELLO + 128, new Bytes().u16(1).u16(34).u64(123_456_789_012L),
                "version=1 sdk=34 uptime_ms=123456789012");
    }

    private void trees() throws Exception {
        frame("tree-request", 2, Frames.TREE, new Bytes().u64(0xfedcba9876543210L), "known=0xfedcba9876543210");
        frame("tree-unchanged-answer", 2, Frames.TREE + 128, new Bytes().u8(0), "changed=0");
        Bytes body = TreeTests.body(Screens.full());
        tree("tree-answer", new Bytes().u32(3).u64(98_765), body);
        // What API 36 adds cannot be had of the classes of API 34, so this tree is written by hand.
        Bytes node = new Bytes().v(1 | 1 << 3 | 1 << 22).v(0).v(1).v(0).v(0).v(2).v(0).z(0).z(0).z(100).z(50).v(1);
        node.v(1 << 15).v(2);
        Bytes newest = new Bytes().u16(1080).u16(2400).u8(3).str("").u8(0).u32(3).str("").str("a.B").str("Some");
        newest.v(1).z(-1).v(4).z(-2).v(0).v(0).z(0).z(0).z(1080).z(2400).v(0).v(1).append(node);
        tree("tree-api36-answer", new Bytes().u32(4).u64(98_999), newest);
    }

    private void tree(String name, Bytes head, Bytes body) throws IOException {
        String text = String.format("changed=1%nhash=0x%016x%n", body.hash())
                + TreeText.describe(new Bytes().append(head).append(body).toArray());
        frame(name, 2, Frames.TREE + 128, new Bytes().u8(1).u64(body.hash()).append(head).append(body), text.trim());
    }

    private void input() throws Exception {
        byte[] pinch = TouchTests.request(TouchTests.at(0, 0, 300, 1000, 1, 700, -5),
                TouchTests.at(16, 0, 320, 1000, 1, 680, 15), TouchTests.at(33));
        frame("touch-request", 3, Frames.TOUCH, new Bytes().raw(pinch, 0, pinch.length),
                "at_ms=0 pointer id=0 x=300 y=1000 pointer id=1 x=700 y=-5\n"
                + "at_ms=16 pointer id=0 x=320 y=1000 pointer id=1 x=680 y=15\nat_ms=33\n"
                + "steps: " + TouchTests.describe(TouchPlan.read(pinch)));
        Bytes keys = new Bytes().u16(2).u16(4).u32(0).u32(0).u16(66).u32(0x1001).u32(700);
        KeySender.read(keys.toArray());
        frame("keys-request", 4, Frames.KEYS, keys, "code=4 meta=0 hold_ms=0\ncode=66 meta=4097 hold_ms=700");
        frame("text-request", 5, Frames.TEXT, new Bytes().u8(2).u32(3).u32(17).str("h\u00e4 \ud83d\ude00"),
                "mode=2 serial=3 index=17 text=\"h\u00e4 \ud83d\ude00\"");
        frame("text-answer", 5, Frames.TEXT + 128, new Bytes().u8(3), "way=3");
        frame("action-request", 6, Frames.ACTION, new Bytes().u32(3).u32(17).u32(16).u8(0),
                "serial=3 index=17 action=16 argument=0");
        frame("action-progress-request", 6, Frames.ACTION, new Bytes().u32(3).u32(17).u32(16_908_349).u8(1).f32(7.5f),
                "serial=3 index=17 action=16908349 argument=1 progress=7.5");
        frame("action-selection-request", 6, Frames.ACTION,
                new Bytes().u32(3).u32(17).u32(131_072).u8(2).u32(1).u32(-1),
                "serial=3 index=17 action=131072 argument=2 start=1 end=-1");
        frame("action-answer", 6, Frames.ACTION + 128, new Bytes(), "");
    }

    private void others() throws IOException {
        frame("picture-request", 7, Frames.PICTURE, new Bytes().u16(1024).u16(1024).u8(80),
                "width_max=1024 height_max=1024 quality=80");
        frame("picture-answer", 7, Frames.PICTURE + 128,
                new Bytes().u16(1080).u16(2400).u8(1).u32(4).u32(0xffd8ffd9), "width=1080 height=2400 format=1 bytes=ffd8ffd9");
        frame("get-clipboard-answer", 8, Frames.GET_CLIPBOARD + 128, new Bytes().u8(1).str("copied"),
                "there=1 text=\"copied\"");
        frame("set-clipboard-request", 9, Frames.SET_CLIPBOARD, new Bytes().str("copied"), "text=\"copied\"");
        frame("events-request", 10, Frames.EVENTS, new Bytes().u8(1), "on=1");
        frame("bye-request", 12, Frames.BYE, new Bytes(), "");
        frame("until-request", 13, Frames.UNTIL, new Bytes().u64(98_765), "uptime_ms=98765");
        frame("refusal", 6, Frames.REFUSAL, new Bytes().u16(Refusal.NODE_CHANGED).str("the node shows something else"),
                "code=4 message=\"the node shows something else\"");
    }

    private void events() throws IOException {
        EventQueue queue = new EventQueue();
        queue.add(new EventQueue.Item(EventQueue.CONTENT_CHANGED, 5, 1, 500, "org.example", "a.B", ""), 500);
        queue.add(new EventQueue.Item(EventQueue.CONTENT_CHANGED, 5, 2, 510, "org.example", "a.B", ""), 510);
        frame("event-content", 0, Frames.EVENT, queue.take(520).write(1),
                "number=1 uptime_ms=510 merged=2 type=2048 changes=3 window=5\n"
                + "package=\"org.example\" class=\"a.B\" text=\"\"");
        AccessibilityEvent toast = new AccessibilityEvent(AccessibilityEvent.TYPE_NOTIFICATION_STATE_CHANGED);
        toast.setPackageName("org.example");
        toast.setClassName("android.widget.Toast");
        toast.setEventTime(600);
        toast.getText().add("Saved \u2713");
        frame("event-toast", 0, Frames.EVENT, Events.describe(34, toast).write(2),
                "number=2 uptime_ms=600 merged=1 type=64 changes=0 window=-1\n"
                + "package=\"org.example\" class=\"android.widget.Toast\" text=\"Saved \u2713\"");
    }

    private void frame(String name, int id, int kind, Bytes payload, String text) throws IOException {
        Files.write(new File(folder, name + ".bin").toPath(), Frames.encode(id, kind, payload));
        String all = "id=" + id + " kind=" + kind + "\n" + text + (text.isEmpty() ? "" : "\n");
        Files.write(new File(folder, name + ".txt").toPath(), all.getBytes(StandardCharsets.UTF_8));
    }
}
