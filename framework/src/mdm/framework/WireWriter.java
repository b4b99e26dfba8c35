package mdm.framework;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Writes the fields of one answer; {@code docs/framework-phone.md} has the format. */
final class WireWriter {
    /** A picture of a large screen fits. */
    static final int FRAME_BYTES_MAX = 64 * 1024 * 1024;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(4096);

    WireWriter u8(int value) {
        bytes.write(value);
        return this;
    }

    WireWriter u32(int value) {
        bytes.write(value >>> 24);
        bytes.write(value >>> 16);
        bytes.write(value >>> 8);
        bytes.write(value);
        return this;
    }

    WireWriter i64(long value) {
        return u32((int) (value >>> 32)).u32((int) value);
    }

    WireWriter f64(double value) {
        return i64(Double.doubleToLongBits(value));
    }

    WireWriter flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    /** Writes a text; one that is too long is cut. */
    WireWriter text(CharSequence value) {
        String text = value == null ? "" : value.toString();
        if (text.length() > Journal.TEXT_CHARS_MAX) {
            text = text.substring(0, Journal.TEXT_CHARS_MAX);
        }
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    WireWriter bytes(byte[] value) {
        u32(value.length);
        bytes.write(value, 0, value.length);
        return this;
    }

    /** Appends what another writer has, without a length. */
    WireWriter raw(WireWriter other) {
        bytes.writeBytes(other.bytes.toByteArray());
        return this;
    }

    int size() {
        return bytes.size();
    }

    void send(OutputStream out) throws IOException {
        if (bytes.size() > FRAME_BYTES_MAX) {
            throw new IOException("an answer of " + bytes.size() + " bytes is too long");
        }
        WireWriter length = new WireWriter().u32(bytes.size());
        length.bytes.writeTo(out);
        bytes.writeTo(out);
        out.flush();
    }
}
