package mdm.helper;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing array that numbers and strings are written to, big-endian or as LEB128. */
public final class Bytes {
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private byte[] array = new byte[256];
    private int size;

    public int size() {
        return size;
    }

    public byte[] toArray() {
        return Arrays.copyOf(array, size);
    }

    public Bytes u8(int value) {
        room(1);
        array[size++] = (byte) value;
        return this;
    }

    public Bytes u16(int value) {
        return u8(value >>> 8).u8(value);
    }

    public Bytes u32(int value) {
        return u16(value >>> 16).u16(value);
    }

    public Bytes u64(long value) {
        return u32((int) (value >>> 32)).u32((int) value);
    }

    public Bytes f32(float value) {
        return u32(Float.floatToIntBits(value));
    }

    public Bytes str(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return u32(utf8.length).raw(utf8, 0, utf8.length);
    }

    /** Unsigned LEB128. */
    public Bytes v(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            u8((int) (rest & 0x7f) | 0x80);
            rest >>>= 7;
        }
        return u8((int) rest);
    }

    /** Zigzag LEB128 of a signed 32-bit number. */
    public Bytes z(int value) {
        return v(((value << 1) ^ (value >> 31)) & 0xffffffffL);
    }

    public Bytes raw(byte[] from, int start, int count) {
        room(count);
        System.arraycopy(from, start, array, size, count);
        size += count;
        return this;
    }

    public Bytes append(Bytes other) {
        return raw(other.array, 0, other.size);
    }

    /** FNV-1a, 64 bit. 0 means no hash in the protocol, so a hash of 0 is given as 1. */
    public long hash() {
        long hash = FNV_OFFSET;
        for (int at = 0; at < size; at++) {
            hash = (hash ^ (array[at] & 0xff)) * FNV_PRIME;
        }
        return hash == 0 ? 1 : hash;
    }

    private void room(int count) {
        if (array.length - size < count) {
            array = Arrays.copyOf(array, Math.max(size + count, array.length * 2));
        }
    }
}
