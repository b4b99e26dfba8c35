package android.app;

/**
 * Stands for Android's class outside of the sandbox, where Robolectric's {@code Config} names it. Inside, Android's own
 * comes first.
 */
public class Application {}
