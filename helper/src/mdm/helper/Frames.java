package mdm.helper;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Frames in and out: `u32 length`, `u32 id`, `u8 kind`, payload. */
public final class Frames {
    public static final int VERSION = 1;

    public static final int HELLO = 1;
    public static final int TREE = 2;
    public static final int TOUCH = 3;
    public static final int KEYS = 4;
    public static final int TEXT = 5;
    public static final int ACTION = 6;
    public static final int PICTURE = 7;
    public static final int GET_CLIPBOARD = 8;
    public static final int SET_CLIPBOARD = 9;
    public static final int EVENTS = 10;
    public static final int RELEASE = 11;
    public static final int BYE = 12;
    public static final int UNTIL = 13;
    public static final int EVENT = 64;
    /** Added to the kind of a request. */
    public static final int ANSWER = 128;
    public static final int REFUSAL = 255;

    static final int REQUEST_BYTES_MAX = 1 << 20;
    private static final int ANSWER_BYTES_MAX = 16 << 20;
    private static final int HEAD_BYTES = 5;
    static final int PAYLOAD_BYTES_MAX = ANSWER_BYTES_MAX - HEAD_BYTES;

    /** What the client asked. */
    public static final class Frame {
        public final int id;
        public final int kind;
        public final byte[] payload;

        Frame(int id, int kind, byte[] payload) {
            this.id = id;
            this.kind = kind;
            this.payload = payload;
        }
    }

    private final DataInputStream in;
    private final OutputStream out;
    private final Object writing = new Object();

    public Frames(InputStream in, OutputStream out) {
        this.in = new DataInputStream(in);
        this.out = out;
    }

    /** Waits for a frame; null if the other side has closed between two frames. */
    public Frame read() throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        int length = first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
        if (length < HEAD_BYTES || length > REQUEST_BYTES_MAX) {
            throw new IOException("a frame of " + (length & 0xffffffffL) + " bytes");
        }
        int id = in.readInt();
        int kind = in.readUnsignedByte();
        byte[] payload = new byte[length - HEAD_BYTES];
        in.readFully(payload);
        return new Frame(id, kind, payload);
    }

    /** Writes a frame whole, also when answers and events come from two threads. */
    public void write(int id, int kind, Bytes payload) throws IOException {
        byte[] frame = encode(id, kind, payload);
        synchronized (writing) {
            out.write(frame);
            out.flush();
        }
    }

    public static byte[] encode(int id, int kind, Bytes payload) {
        return new Bytes().u32(payload.size() + HEAD_BYTES).u32(id).u8(kind).append(payload).toArray();
    }
}
