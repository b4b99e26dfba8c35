package mdm.framework;

import java.util.HashMap;
import java.util.Map;
import org.robolectric.annotation.Config;
import org.robolectric.annotation.ConscryptMode;
import org.robolectric.annotation.GraphicsMode;
import org.robolectric.annotation.LooperMode;
import org.robolectric.annotation.SQLiteMode;
import org.robolectric.annotation.experimental.LazyApplication;
import org.robolectric.pluginapi.config.ConfigurationStrategy;

/** The modes in which Robolectric runs: a clock that we move, native graphics and native SQLite. */
final class FixedConfiguration implements ConfigurationStrategy.Configuration {
    private final Map<Class<?>, Object> modes = new HashMap<>();

    FixedConfiguration(int sdk, String qualifiers) {
        modes.put(ConscryptMode.Mode.class, ConscryptMode.Mode.OFF);
        modes.put(LooperMode.Mode.class, LooperMode.Mode.PAUSED);
        modes.put(LazyApplication.LazyLoad.class, LazyApplication.LazyLoad.OFF);
        modes.put(GraphicsMode.Mode.class, GraphicsMode.Mode.NATIVE);
        modes.put(SQLiteMode.Mode.class, SQLiteMode.Mode.NATIVE);
        modes.put(Config.class, new Config.Builder().setSdk(sdk).setQualifiers(qualifiers).build());
    }

    @Override
    public <T> T get(Class<T> mode) {
        return mode.cast(modes.get(mode));
    }

    @Override
    public java.util.Collection<Class<?>> keySet() {
        return modes.keySet();
    }

    @Override
    public Map<Class<?>, Object> map() {
        return modes;
    }
}
