package mdm.framework.shadows;

import android.content.Context;
import android.content.Intent;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Says of every activity that it is none of an advertiser's sandbox, which asks services that are not here. */
@Implements(
        className = "android.app.sdksandbox.sandboxactivity.SdkSandboxActivityAuthority",
        isInAndroidSdk = false)
public class SdkSandboxShadow {
    @Implementation(minSdk = 35)
    protected static boolean isSdkSandboxActivityIntent(Context context, Intent intent) {
        return false;
    }
}
