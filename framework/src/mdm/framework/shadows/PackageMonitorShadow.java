package mdm.framework.shadows;

import android.content.Context;
import android.os.Handler;
import android.os.UserHandle;
import org.robolectric.annotation.Implementation;
import org.robolectric.annotation.Implements;

/** Stands for the news of packages that come and go: from API level 35 on they are asked for where nobody answers here. */
@Implements(className = "com.android.internal.content.PackageMonitor", isInAndroidSdk = false)
public class PackageMonitorShadow {
    @Implementation(minSdk = 35)
    protected void register(Context context, UserHandle user, Handler handler) {}

    @Implementation(minSdk = 35)
    protected void unregister() {}
}
