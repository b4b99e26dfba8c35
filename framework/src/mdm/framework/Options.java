package mdm.framework;

import java.util.HashMap;
import java.util.Map;

/** What the phone is like: the words of the command line, each as {@code name=value}. */
final class Options {
    final int sdk;
    final String apk;
    final int width;
    final int height;
    final int density;
    /** The wall clock at uptime 0, in milliseconds since 1970. */
    final long wallAtBoot;

    private Options(Map<String, String> words) {
        sdk = number(words, "sdk", 34);
        apk = words.get("apk");
        width = number(words, "width", 1080);
        height = number(words, "height", 2400);
        density = number(words, "density", 420);
        wallAtBoot = Long.parseLong(words.getOrDefault("wall", "1772442000000"));
        if (apk == null) {
            throw new IllegalArgumentException("apk=FILE is missing");
        }
    }

    static Options parse(String[] args) {
        Map<String, String> words = new HashMap<>();
        for (String arg : args) {
            int equals = arg.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("not name=value: " + arg);
            }
            words.put(arg.substring(0, equals), arg.substring(equals + 1));
        }
        return new Options(words);
    }

    private static int number(Map<String, String> words, String name, int otherwise) {
        String text = words.get(name);
        return text == null ? otherwise : Integer.parseInt(text);
    }
}
