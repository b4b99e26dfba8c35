package mdm.framework;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** The connection of a helper: bytes that came from the client, and bytes that wait to be fetched for it. */
final class HelperPipe {
    /** Input that may wait: the largest frame several times. */
    private static final int INPUT_BYTES_MAX = 4 << 20;
    /** Output that may wait: three of the largest frames still fit into one answer of the wire. */
    private static final int OUTPUT_BYTES_MAX = 48 << 20;

    private final HelperThread thread;
    private byte[] input = {};
    private int read;
    private boolean isClosed;
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    HelperPipe(HelperThread thread) {
        this.thread = thread;
    }

    /** Adds what the client sent; false when too much waits. */
    boolean feed(byte[] more) {
        int left = input.length - read;
        if (left + more.length > INPUT_BYTES_MAX) {
            return false;
        }
        byte[] all = new byte[left + more.length];
        System.arraycopy(input, read, all, 0, left);
        System.arraycopy(more, 0, all, left, more.length);
        input = all;
        read = 0;
        return true;
    }

    void close() {
        isClosed = true;
    }

    byte[] takeOutput() {
        byte[] bytes = output.toByteArray();
        output.reset();
        return bytes;
    }

    InputStream in() {
        return new InputStream() {
            @Override
            public int read() {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                while (read == input.length && !isClosed) {
                    thread.waitForInput();
                }
                int count = Math.min(length, input.length - read);
                if (count == 0) {
                    return length == 0 ? 0 : -1;
                }
                System.arraycopy(input, read, into, offset, count);
                read += count;
                return count;
            }
        };
    }

    OutputStream out() {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                if (isClosed || output.size() + length > OUTPUT_BYTES_MAX) {
                    throw new IOException("the client does not read");
                }
                output.write(bytes, offset, length);
            }
        };
    }
}
