package mdm.helper;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Reads the payload of a request. Whatever does not fit is a bad request, never an exception of another kind. */
final class Payload {
    private final ByteBuffer bytes;

    Payload(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes);
    }

    int u8() throws Refusal {
        return need(1).get() & 0xff;
    }

    int u16() throws Refusal {
        return need(2).getShort() & 0xffff;
    }

    long u32() throws Refusal {
        return need(4).getInt() & 0xffffffffL;
    }

    int i32() throws Refusal {
        return need(4).getInt();
    }

    long u64() throws Refusal {
        return need(8).getLong();
    }

    float f32() throws Refusal {
        return need(4).getFloat();
    }

    byte[] raw(int count) throws Refusal {
        byte[] raw = new byte[count];
        need(count).get(raw);
        return raw;
    }

    String str() throws Refusal {
        long count = u32();
        need(count);
        byte[] raw = raw((int) count);
        try {
            return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(raw)).toString();
        } catch (CharacterCodingException e) {
            throw new Refusal(Refusal.BAD_REQUEST, "a string is not UTF-8");
        }
    }

    /** Everything must have been read: a longer payload is one that this version does not understand. */
    void end() throws Refusal {
        if (bytes.hasRemaining()) {
            throw new Refusal(Refusal.BAD_REQUEST, bytes.remaining() + " bytes too many");
        }
    }

    private ByteBuffer need(long count) throws Refusal {
        if (count > bytes.remaining()) {
            throw new Refusal(Refusal.BAD_REQUEST, "the payload ends too early");
        }
        return bytes;
    }
}
