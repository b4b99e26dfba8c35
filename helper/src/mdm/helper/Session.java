package mdm.helper;

import android.content.ClipData;
import android.os.Bundle;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Serves one connection: requests in order, one at a time. */
public final class Session {
    public static final long GIVE_BACK_MS = 30_000;

    private static final int ARGUMENT_NONE = 0;
    private static final int ARGUMENT_PROGRESS = 1;
    private static final int ARGUMENT_SELECTION = 2;

    private final Automation automation;
    private final byte[] nonce;
    private final Frames frames;
    private final Events events;
    private final KeptTrees trees = new KeptTrees();
    private final KeySender keys;
    private final Toucher toucher;
    private final TextWriter texts;
    /** Held while a request is served. */
    private final ReentrantLock serving = new ReentrantLock();
    private volatile long lastRequestMs;
    /** The next request with an effect must not begin after this uptime; 0 if it may. */
    private long untilMs;

    public Session(Automation automation, byte[] nonce, InputStream in, OutputStream out) {
        this.automation = automation;
        this.nonce = nonce.clone();
        this.frames = new Frames(in, out);
        this.events = new Events(automation, frames);
        this.keys = new KeySender(automation);
        this.toucher = new Toucher(automation);
        this.texts = new TextWriter(automation, keys);
        this.lastRequestMs = automation.uptimeMillis();
    }

    /** Returns when the client says Bye or closes. False if it did not know the nonce. UiAutomation is given back. */
    public boolean serve() throws IOException {
        return serve(events::start);
    }

    /** Serves in the same way, but events are sent only by `tellEvents`: for a caller who moves the clock himself. */
    public boolean serveWithoutSender() throws IOException {
        return serve(() -> { });
    }

    /** Sends the events that are due. Returns how long until the next one is, in milliseconds, and -1 if none waits. */
    public long tellEvents() throws IOException {
        return events.tellDue();
    }

    private boolean serve(Runnable startSender) throws IOException {
        Frames.Frame hello = frames.read();
        if (hello == null || hello.kind != Frames.HELLO || !isRight(hello.payload)) {
            return false;
        }
        startSender.run();
        try {
            answer(hello);
            Frames.Frame request = frames.read();
            while (request != null && answer(request)) {
                request = frames.read();
            }
            return true;
        } finally {
            events.end();
            automation.giveBack();
        }
    }

    /** How long no request has come. */
    public long idleMs() {
        return automation.uptimeMillis() - lastRequestMs;
    }

    /** Gives UiAutomation back if no request has come for a while; others may want it. It never waits for a request. */
    public void giveBackIfIdle() {
        if (serving.tryLock()) {
            try {
                if (idleMs() >= GIVE_BACK_MS) {
                    giveBack();
                }
            } finally {
                serving.unlock();
            }
        }
    }

    private boolean isRight(byte[] payload) {
        try {
            Payload hello = new Payload(payload);
            int version = hello.u16();
            byte[] theirs = hello.raw(nonce.length);
            hello.end();
            return version == Frames.VERSION && MessageDigest.isEqual(nonce, theirs);
        } catch (Refusal e) {
            return false;
        }
    }

    /** False after Bye. It is written outside of the lock: a client that does not read must not keep UiAutomation. */
    private boolean answer(Frames.Frame request) throws IOException {
        Bytes answer = null;
        Refusal refusal = null;
        serving.lock();
        lastRequestMs = automation.uptimeMillis();
        try {
            answer = handle(request);
        } catch (Refusal e) {
            refusal = e;
        } catch (InterruptedException | RuntimeException | LinkageError | StackOverflowError | OutOfMemoryError e) {
            refusal = new Refusal(Refusal.INTERNAL, Refusal.describe(e));
        } finally {
            lastRequestMs = automation.uptimeMillis();
            serving.unlock();
        }
        if (answer != null && answer.size() > Frames.PAYLOAD_BYTES_MAX) {
            refusal = new Refusal(Refusal.INTERNAL, "an answer of " + answer.size() + " bytes is too long to send");
        }
        if (refusal == null) {
            frames.write(request.id, request.kind + Frames.ANSWER, answer);
        } else {
            refuse(request.id, refusal);
        }
        return request.kind != Frames.BYE;
    }

    private void refuse(int id, Refusal refusal) throws IOException {
        if (refusal.code == Refusal.AUTOMATION_BUSY) {
            forget();
        }
        frames.write(id, Frames.REFUSAL, new Bytes().u16(refusal.code).str(StringTable.cut(refusal.getMessage())));
    }

    private Bytes handle(Frames.Frame request) throws Refusal, InterruptedException {
        Payload payload = new Payload(request.payload);
        switch (request.kind) {
            case Frames.HELLO:
                return hello();
            case Frames.TREE:
                return tree(payload);
            case Frames.TOUCH:
                return touch(request.payload);
            case Frames.KEYS:
                return keys(request.payload);
            case Frames.TEXT:
                return text(payload);
            case Frames.ACTION:
                return action(payload);
            case Frames.PICTURE:
                return picture(payload);
            case Frames.GET_CLIPBOARD:
                return clipboard(payload);
            case Frames.SET_CLIPBOARD:
                return setClipboard(payload);
            case Frames.EVENTS:
                return events(payload);
            case Frames.RELEASE:
                payload.end();
                giveBack();
                return new Bytes();
            case Frames.BYE:
                payload.end();
                return new Bytes();
            case Frames.UNTIL:
                untilMs = payload.u64();
                payload.end();
                return new Bytes();
            default:
                throw new Refusal(Refusal.BAD_REQUEST, "no request has the kind " + request.kind);
        }
    }

    private Bytes hello() {
        return new Bytes().u16(Frames.VERSION).u16(automation.sdk()).u64(automation.uptimeMillis());
    }

    private Bytes tree(Payload payload) throws Refusal {
        long known = payload.u64();
        payload.end();
        automation.take();
        long uptimeMs = automation.uptimeMillis();
        ScreenTree tree = TreeReader.read(automation);
        Bytes body = TreeWriter.write(automation.sdk(), automation.screen(), automation.frontActivity(), tree);
        long hash = body.hash();
        if (hash == known && trees.renew(hash, tree.nodes())) {
            return new Bytes().u8(0);
        }
        int serial = trees.keep(hash, tree.nodes());
        return new Bytes().u8(1).u64(hash).u32(serial).u64(uptimeMs).append(body);
    }

    /** Makes ready for an effect. A device that was stuck must not do what its client has given up. */
    private void begin() throws Refusal {
        long until = untilMs;
        untilMs = 0;
        automation.take();
        long lateMs = automation.uptimeMillis() - until;
        if (until != 0 && lateMs > 0) {
            throw new Refusal(Refusal.TOO_LATE, "its time was over " + lateMs + " ms ago");
        }
    }

    private Bytes touch(byte[] payload) throws Refusal, InterruptedException {
        List<TouchPlan.Step> steps = TouchPlan.read(payload);
        begin();
        toucher.touch(steps);
        return new Bytes();
    }

    private Bytes keys(byte[] payload) throws Refusal, InterruptedException {
        List<KeySender.Press> presses = KeySender.read(payload);
        begin();
        keys.press(presses);
        return new Bytes();
    }

    private Bytes text(Payload payload) throws Refusal, InterruptedException {
        int mode = payload.u8();
        long serial = payload.u32();
        long index = payload.u32();
        String text = payload.str();
        payload.end();
        if (mode > TextWriter.INSERT_AND_ACT || text.length() > TextWriter.CHARS_MAX) {
            throw new Refusal(Refusal.BAD_REQUEST,
                    "mode " + mode + " with " + text.length() + " characters; at most " + TextWriter.CHARS_MAX);
        }
        begin();
        AccessibilityNodeInfo field = serial == 0 ? focused() : trees.find(automation, serial, index);
        return new Bytes().u8(texts.write(field, mode, text));
    }

    private AccessibilityNodeInfo focused() throws Refusal {
        AccessibilityNodeInfo field = automation.inputFocus();
        if (field == null) {
            throw new Refusal(Refusal.NODE_GONE, "nothing has the input focus");
        }
        return field;
    }

    private Bytes action(Payload payload) throws Refusal {
        long serial = payload.u32();
        long index = payload.u32();
        int action = payload.i32();
        Bundle arguments = arguments(payload);
        payload.end();
        begin();
        AccessibilityNodeInfo node = trees.find(automation, serial, index);
        if (!automation.perform(node, action, arguments)) {
            throw new Refusal(Refusal.REFUSED, "the node did not take action " + (action & 0xffffffffL));
        }
        return new Bytes();
    }

    private static Bundle arguments(Payload payload) throws Refusal {
        Bundle arguments = new Bundle();
        int kind = payload.u8();
        switch (kind) {
            case ARGUMENT_NONE:
                return null;
            case ARGUMENT_PROGRESS:
                arguments.putFloat(AccessibilityNodeInfo.ACTION_ARGUMENT_PROGRESS_VALUE, payload.f32());
                return arguments;
            case ARGUMENT_SELECTION:
                arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_START_INT, payload.i32());
                arguments.putInt(AccessibilityNodeInfo.ACTION_ARGUMENT_SELECTION_END_INT, payload.i32());
                return arguments;
            default:
                throw new Refusal(Refusal.BAD_REQUEST, "no argument has the kind " + kind);
        }
    }

    private Bytes picture(Payload payload) throws Refusal {
        int widthMax = payload.u16();
        int heightMax = payload.u16();
        int quality = payload.u8();
        payload.end();
        automation.take();
        return Pictures.take(automation, widthMax, heightMax, quality);
    }

    private Bytes clipboard(Payload payload) throws Refusal {
        payload.end();
        ClipData clip = automation.clip();
        CharSequence text = clip == null || clip.getItemCount() == 0 ? null : clip.getItemAt(0).getText();
        return new Bytes().u8(text == null ? 0 : 1).str(text == null ? "" : text.toString());
    }

    private Bytes setClipboard(Payload payload) throws Refusal {
        String text = payload.str();
        payload.end();
        automation.setClip(ClipData.newPlainText(null, text));
        return new Bytes();
    }

    private Bytes events(Payload payload) throws Refusal {
        int on = payload.u8();
        payload.end();
        if (on > 1) {
            throw new Refusal(Refusal.BAD_REQUEST, "events are on (1) or off (0), not " + on);
        }
        if (on == 1) {
            automation.take();
        }
        events.turn(on == 1);
        return new Bytes();
    }

    private void giveBack() {
        if (automation.isHeld()) {
            automation.giveBack();
            forget();
        }
    }

    /** What was read through a UiAutomation that is not ours any more is of no use. */
    private void forget() {
        trees.clear();
        events.tellEnd();
    }
}
