package mdm.framework.shadows;

import java.lang.ref.Cleaner;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;
import org.robolectric.res.android.Registries;
import org.robolectric.shadows.ShadowNativeAllocationRegistry;

/**
 * Frees themes that nobody uses any more, which Robolectric keeps for ever: each activity has several of up to a few
 * hundred kilobytes, and after some hundred activities the heap was full.
 */
@Implements(className = "libcore.util.NativeAllocationRegistry")
public class NativeAllocationShadow extends ShadowNativeAllocationRegistry {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final String THEME = "android.content.res.ResourcesImpl$ThemeImpl";

    @Override
    @Implementation
    protected Runnable registerNativeAllocation(Object referent, long pointer) {
        if (referent.getClass().getName().equals(THEME)) {
            CLEANER.register(referent, () -> Registries.NATIVE_THEME9_REGISTRY.unregister(pointer));
        }
        return super.registerNativeAllocation(referent, pointer);
    }
}
