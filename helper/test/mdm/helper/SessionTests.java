package mdm.helper;

import static mdm.helper.Tests.equal;
import static mdm.helper.Tests.test;

import android.content.ClipData;
import android.view.accessibility.AccessibilityEvent;
import android.view.accessibility.AccessibilityNodeInfo;
import android.view.accessibility.AccessibilityNodeInfo.AccessibilityAction;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;

/** Requests and answers over a connection, against a screen made by hand. */
final class SessionTests {
    private static final byte[] NONCE = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    private static final int FIELD = 1;
    private static final int SLIDER = 2;

    private SessionTests() {}

    static void run() {
        test("hello", SessionTests::hello);
        test("a wrong nonce, version or first message ends the connection", SessionTests::strangers);
        test("an unchanged tree costs a hash and keeps its serial", SessionTests::unchanged);
        test("the last two trees are kept", SessionTests::serials);
        test("an action reaches its node", SessionTests::actions);
        test("what a client gave up is not done", SessionTests::tooLate);
        test("a node that changed or went is not acted on", SessionTests::changed);
        test("text is set, inserted at the cursor, or pasted", SessionTests::texts);
        test("a text that no way carries changes nothing", SessionTests::noWay);
        test("the clipboard", SessionTests::clipboard);
        test("a busy UiAutomation is told and the connection stays", SessionTests::busy);
        test("release forgets trees", SessionTests::release);
        test("idle gives UiAutomation back and ends events", SessionTests::idle);
        test("events are pushed with numbers", SessionTests::events);
        test("without a sender events wait until they are asked for", SessionTests::steps);
        test("bad requests", SessionTests::bad);
    }

    /** The client's end of a connection. */
    private static final class Client {
        final ModelPhone phone;
        final Session session;
        private final PipedOutputStream out = new PipedOutputStream();
        private final DataInputStream in;
        private final Thread thread;
        private boolean isServed;
        private int id;

        Client(ModelPhone phone) throws IOException {
            this(phone, true);
        }

        Client(ModelPhone phone, boolean hasSender) throws IOException {
            this.phone = phone;
            PipedOutputStream answers = new PipedOutputStream();
            this.in = new DataInputStream(new PipedInputStream(answers, 1 << 20));
            this.session = new Session(phone, NONCE, new PipedInputStream(out, 1 << 20), answers);
            this.thread = new Thread(() -> {
                try {
                    isServed = hasSender ? session.serve() : session.serveWithoutSender();
                    answers.close();
                } catch (IOException e) {
                    isServed = false;
                }
            });
            thread.start();
        }

        static Client greeted(ModelPhone phone) throws IOException {
            Client client = new Client(phone);
            client.ask(Frames.HELLO, helloOf(Frames.VERSION));
            return client;
        }

        static Bytes helloOf(int version) {
            return new Bytes().u16(version).raw(NONCE, 0, NONCE.length);
        }

        void say(int kind, Bytes payload) throws IOException {
            id++;
            out.write(Frames.encode(id, kind, payload));
            out.flush();
        }

        Frames.Frame hear() throws IOException {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            int kind = frame[4] & 0xff;
            int its = java.nio.ByteBuffer.wrap(frame).getInt();
            return new Frames.Frame(its, kind, java.util.Arrays.copyOfRange(frame, 5, frame.length));
        }

        /** The answer's payload. */
        Payload ask(int kind, Bytes payload) throws IOException {
            say(kind, payload);
            Frames.Frame answer = hear();
            equal(Tests.join(id, kind + 128), Tests.join(answer.id, answer.kind));
            return new Payload(answer.payload);
        }

        /** The message of a refusal. */
        String refused(int code, int kind, Bytes payload) throws Exception {
            say(kind, payload);
            Frames.Frame answer = hear();
            equal(Tests.join(id, Frames.REFUSAL), Tests.join(answer.id, answer.kind));
            Payload refusal = new Payload(answer.payload);
            equal(code, refusal.u16());
            return refusal.str();
        }

        /** The serial and the hash of a tree. */
        long[] tree(long known) throws Exception {
            Payload answer = ask(Frames.TREE, new Bytes().u64(known));
            if (answer.u8() == 0) {
                return null;
            }
            long hash = answer.u64();
            return new long[] {answer.u32(), hash};
        }

        Bytes action(long serial, int index, int action) {
            return new Bytes().u32((int) serial).u32(index).u32(action);
        }

        Bytes text(int mode, long serial, int index, String text) {
            return new Bytes().u8(mode).u32((int) serial).u32(index).str(text);
        }

        boolean end() throws Exception {
            out.close();
            thread.join(10_000);
            return isServed;
        }
    }

    private static void hello() throws Exception {
        Client client = new Client(new ModelPhone());
        Payload answer = client.ask(Frames.HELLO, Client.helloOf(1));
        equal("1 34 1000", answer.u16() + " " + answer.u16() + " " + answer.u64());
        client.ask(Frames.BYE, new Bytes());
        client.thread.join(10_000);
        equal(true, client.isServed);
        equal(-1, client.in.read());
    }

    private static void strangers() throws Exception {
        byte[] other = NONCE.clone();
        other[15]++;
        Bytes[] hellos = {new Bytes().u16(1).raw(other, 0, 16), Client.helloOf(2), new Bytes().u16(1),
            Client.helloOf(1).u8(0)};
        for (Bytes hello : hellos) {
            Client client = new Client(new ModelPhone());
            client.say(Frames.HELLO, hello);
            equal(-1, client.in.read());
            equal(false, client.end());
        }
        Client client = new Client(new ModelPhone());
        client.say(Frames.TREE, new Bytes().u64(0));
        equal(-1, client.in.read());
        equal(false, client.end());
    }

    private static void unchanged() throws Exception {
        Client client = Client.greeted(Screens.full());
        long[] tree = client.tree(0);
        equal(null, client.tree(tree[1]));
        client.phone.clockMs += 5_000;
        equal(null, client.tree(tree[1]));
        equal(1L, tree[0]);
        client.ask(Frames.ACTION, client.action(tree[0], SLIDER, 16).u8(0));
        equal(2L, client.tree(tree[1] + 1)[0]);
        client.end();
    }

    private static void serials() throws Exception {
        Client client = Client.greeted(Screens.full());
        for (long serial = 1; serial <= 3; serial++) {
            equal(serial, client.tree(0)[0]);
        }
        client.refused(Refusal.NODE_GONE, Frames.ACTION, client.action(1, 0, 16).u8(0));
        client.ask(Frames.ACTION, client.action(2, 0, 16).u8(0));
        client.ask(Frames.ACTION, client.action(3, 0, 16).u8(0));
        client.refused(Refusal.BAD_REQUEST, Frames.ACTION, client.action(3, 6, 16).u8(0));
        client.end();
    }

    private static void actions() throws Exception {
        Client client = Client.greeted(Screens.full());
        long serial = client.tree(0)[0];
        client.ask(Frames.ACTION, client.action(serial, SLIDER, 16908349).u8(1).f32(7.5f));
        client.ask(Frames.ACTION, client.action(serial, FIELD, 131072).u8(2).u32(1).u32(3));
        equal("[16908349 7.5, 131072 3 1]", client.phone.performed.toString());
        client.phone.isWilling = false;
        client.refused(Refusal.REFUSED, Frames.ACTION, client.action(serial, SLIDER, 16).u8(0));
        client.refused(Refusal.BAD_REQUEST, Frames.ACTION, client.action(serial, SLIDER, 16).u8(3).u8(0));
        client.end();
    }

    private static void tooLate() throws Exception {
        Client client = Client.greeted(Screens.full());
        long serial = client.tree(0)[0];
        long now = client.phone.uptimeMillis();
        client.ask(Frames.UNTIL, new Bytes().u64(now - 1));
        String why = client.refused(Refusal.TOO_LATE, Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        equal("its time was over 1 ms ago", why);
        equal("[]", client.phone.performed.toString());
        // It is meant for one request.
        client.ask(Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        client.ask(Frames.UNTIL, new Bytes().u64(now));
        client.ask(Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        equal("[16, 16]", client.phone.performed.toString());
        client.end();
    }

    private static void changed() throws Exception {
        Client client = Client.greeted(Screens.full());
        ModelPhone phone = client.phone;
        long serial = client.tree(0)[0];
        AccessibilityNodeInfo root = (AccessibilityNodeInfo) phone.windows.get(1).handle;
        AccessibilityNodeInfo field = phone.child(root, 0);
        field.setText("bob@");
        client.refused(Refusal.NODE_CHANGED, Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        field.setText("ann@");
        client.ask(Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        field.setVisibleToUser(false);
        client.refused(Refusal.NODE_GONE, Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        field.setVisibleToUser(true);
        phone.isGone = true;
        client.refused(Refusal.NODE_GONE, Frames.ACTION, client.action(serial, FIELD, 16).u8(0));
        equal("[16]", phone.performed.toString());
        client.end();
    }

    private static void texts() throws Exception {
        Client client = Client.greeted(Screens.full());
        ModelPhone phone = client.phone;
        long serial = client.tree(0)[0];
        equal(1, client.ask(Frames.TEXT, client.text(0, serial, FIELD, "")).u8());
        AccessibilityNodeInfo field = phone.node("android.widget.EditText", "abcd");
        field.setEditable(true);
        field.addAction(AccessibilityAction.ACTION_SET_TEXT);
        field.setTextSelection(3, 1);
        phone.focused = field;
        phone.performed.clear();
        equal(1, client.ask(Frames.TEXT, client.text(1, 0, 0, "\u4f60\u597d")).u8());
        equal("a\u4f60\u597dd", field.getText().toString());
        equal("[2097152 a\u4f60\u597dd, 131072 3 3]", phone.performed.toString());
        field.setText("Your name");
        field.setShowingHintText(true);
        client.ask(Frames.TEXT, client.text(1, 0, 0, "Ann"));
        equal("Ann", field.getText().toString());
        field.setShowingHintText(false);
        field.setPassword(true);
        phone.clip = ClipData.newPlainText(null, "before");
        equal(3, client.ask(Frames.TEXT, client.text(1, 0, 0, "secret")).u8());
        equal("before", phone.clip.getItemAt(0).getText());
        equal(true, field.isFocused());
        client.end();
    }

    private static void noWay() throws Exception {
        Client client = Client.greeted(Screens.full());
        ModelPhone phone = client.phone;
        long serial = client.tree(0)[0];
        client.refused(Refusal.REFUSED, Frames.TEXT, client.text(0, serial, SLIDER, "x"));
        client.refused(Refusal.NODE_GONE, Frames.TEXT, client.text(0, 0, 0, "x"));
        AccessibilityNodeInfo field = phone.node("android.widget.EditText", "****");
        field.setEditable(true);
        field.setPassword(true);
        field.addAction(AccessibilityAction.ACTION_SET_TEXT);
        phone.focused = field;
        phone.clip = new ClipData("picture", new String[] {"image/png"}, new ClipData.Item(new android.content.Intent()));
        client.refused(Refusal.REFUSED, Frames.TEXT, client.text(1, 0, 0, "x"));
        field.setEnabled(false);
        client.refused(Refusal.REFUSED, Frames.TEXT, client.text(0, 0, 0, "x"));
        equal("[]", phone.performed.toString());
        client.refused(Refusal.BAD_REQUEST, Frames.TEXT, client.text(3, 0, 0, "x"));
        client.end();
    }

    private static void clipboard() throws Exception {
        Client client = Client.greeted(new ModelPhone());
        equal("0", "" + client.ask(Frames.GET_CLIPBOARD, new Bytes()).u8());
        client.ask(Frames.SET_CLIPBOARD, new Bytes().str("\ud83d\ude00"));
        Payload answer = client.ask(Frames.GET_CLIPBOARD, new Bytes());
        equal("1 \ud83d\ude00", answer.u8() + " " + answer.str());
        equal(false, client.phone.isHeld);
        client.end();
    }

    private static void busy() throws Exception {
        Client client = Client.greeted(Screens.full());
        client.phone.isBusy = true;
        client.refused(Refusal.AUTOMATION_BUSY, Frames.TREE, new Bytes().u64(0));
        client.refused(Refusal.AUTOMATION_BUSY, Frames.EVENTS, new Bytes().u8(1));
        client.phone.isBusy = false;
        equal(1L, client.tree(0)[0]);
        client.end();
        equal(false, client.phone.isHeld);
    }

    private static void release() throws Exception {
        Client client = Client.greeted(Screens.full());
        long[] tree = client.tree(0);
        client.ask(Frames.RELEASE, new Bytes());
        equal(false, client.phone.isHeld);
        client.refused(Refusal.NODE_GONE, Frames.ACTION, client.action(tree[0], FIELD, 16).u8(0));
        // The client knows this tree, but its serial is not kept: it gets a new one.
        equal(2L, client.tree(tree[1])[0]);
        client.end();
    }

    private static void idle() throws Exception {
        Client client = Client.greeted(Screens.full());
        client.ask(Frames.EVENTS, new Bytes().u8(1));
        client.phone.clockMs += 29_999;
        client.session.giveBackIfIdle();
        equal(true, client.phone.isHeld);
        client.phone.clockMs += 1;
        client.session.giveBackIfIdle();
        equal(false, client.phone.isHeld);
        equal(30_000L, client.session.idleMs());
        Payload event = new Payload(client.hear().payload);
        equal("1 31000 1 0", event.u32() + " " + event.u64() + " " + event.u32() + " " + event.u32());
        client.end();
    }

    private static void events() throws Exception {
        Client client = Client.greeted(Screens.full());
        client.ask(Frames.EVENTS, new Bytes().u8(1));
        for (int count = 0; count < 2; count++) {
            AccessibilityEvent event = new AccessibilityEvent(AccessibilityEvent.TYPE_VIEW_SCROLLED);
            event.setPackageName("org.example");
            client.phone.listener.onEvent(event);
        }
        for (long number = 1; number <= 2; number++) {
            Frames.Frame frame = client.hear();
            equal("0 64", frame.id + " " + frame.kind);
            Payload event = new Payload(frame.payload);
            equal(number, event.u32());
            equal("0 1 4096 0 -1", event.u64() + " " + event.u32() + " " + event.u32() + " " + event.u32() + " "
                    + event.i32());
            equal("org.example||", event.str() + "|" + event.str() + "|" + event.str());
        }
        client.ask(Frames.EVENTS, new Bytes().u8(0));
        equal(null, client.phone.listener);
        client.end();
    }

    private static void steps() throws Exception {
        Client client = new Client(Screens.full(), false);
        client.ask(Frames.HELLO, Client.helloOf(Frames.VERSION));
        client.ask(Frames.EVENTS, new Bytes().u8(1));
        equal(-1L, client.session.tellEvents());
        client.phone.listener.onEvent(new AccessibilityEvent(AccessibilityEvent.TYPE_WINDOW_CONTENT_CHANGED));
        equal(EventQueue.MERGE_MS, client.session.tellEvents());
        client.phone.clockMs += EventQueue.MERGE_MS;
        // An answer comes first: nothing was sent before it.
        client.ask(Frames.UNTIL, new Bytes().u64(0));
        equal(-1L, client.session.tellEvents());
        Frames.Frame told = client.hear();
        equal("0 64", told.id + " " + told.kind);
        client.end();
        equal(-1L, client.session.tellEvents());
    }

    private static void bad() throws Exception {
        Client client = Client.greeted(Screens.full());
        client.refused(Refusal.BAD_REQUEST, 99, new Bytes());
        client.refused(Refusal.BAD_REQUEST, Frames.TREE, new Bytes().u32(0));
        client.refused(Refusal.BAD_REQUEST, Frames.TREE, new Bytes().u64(0).u8(0));
        client.refused(Refusal.BAD_REQUEST, Frames.EVENTS, new Bytes().u8(2));
        client.refused(Refusal.BAD_REQUEST, Frames.PICTURE, new Bytes().u16(0).u16(0).u8(101));
        client.refused(Refusal.PROTECTED, Frames.PICTURE, new Bytes().u16(0).u16(0).u8(80));
        // Native code that is not there stands for whatever an Android version may lack.
        client.refused(Refusal.INTERNAL, Frames.KEYS, new Bytes().u16(1).u16(66).u32(0).u32(0));
        client.tree(0);
        client.end();
    }
}
