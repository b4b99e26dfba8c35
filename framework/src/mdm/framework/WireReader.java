package mdm.framework;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the fields of one request. */
final class WireReader {
    static final int REQUEST_BYTES_MAX = 4 * 1024 * 1024;

    private final ByteBuffer bytes;

    private WireReader(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes);
    }

    /** Returns the next request, or null at the end of the stream. */
    static WireReader next(DataInputStream in) throws IOException {
        int length;
        try {
            length = in.readInt();
        } catch (EOFException end) {
            return null;
        }
        if (length < 0 || length > REQUEST_BYTES_MAX) {
            throw new IOException("a request of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return new WireReader(bytes);
    }

    int u8() {
        return bytes.get() & 0xff;
    }

    int i32() {
        return bytes.getInt();
    }

    long i64() {
        return bytes.getLong();
    }

    boolean flag() {
        return u8() != 0;
    }

    String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    byte[] bytes() {
        int length = bytes.getInt();
        if (length < 0 || length > bytes.remaining()) {
            throw new IllegalArgumentException("a field of " + length + " bytes in " + bytes.remaining());
        }
        byte[] field = new byte[length];
        bytes.get(field);
        return field;
    }
}
