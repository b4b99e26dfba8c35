package mdm.framework;

import android.app.Activity;
import android.app.Application;
import android.content.ComponentName;
import android.content.Intent;
import android.content.pm.ActivityInfo;
import android.content.pm.PackageManager;
import android.content.res.Configuration;
import android.content.res.TypedArray;
import android.os.Bundle;
import android.view.View;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.robolectric.Robolectric;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.util.ReflectionHelpers;
import org.robolectric.util.ReflectionHelpers.ClassParameter;

/**
 * Stands for the activity manager: one task of the app's activities, the top one last. Starts and ends are asked for
 * from the app's code and take place between two messages, in the order of Android: pause, create, resume, stop.
 */
public final class ActivityStack {
    private static final int DEPTH_MAX = 64;
    private static final int REQUESTS_MAX = 64;

    private static ActivityStack current;

    private final Application application;
    private final List<Record> records = new ArrayList<>();
    private final Deque<Request> requests = new ArrayDeque<>();
    private boolean homeRequested;
    private boolean home = true;

    ActivityStack(Application application) {
        this.application = application;
        current = this;
    }

    public static ActivityStack current() {
        return current;
    }

    private static final class Record {
        final ActivityController<? extends Activity> controller;
        final ComponentName component;
        final Record resultTo;
        final String resultWho;
        final int requestCode;
        boolean resumed;
        boolean stopped;

        Record(ActivityController<? extends Activity> controller, ComponentName component, Record to, Request request) {
            this.controller = controller;
            this.component = component;
            resultTo = to;
            resultWho = request.who;
            requestCode = request.requestCode;
        }

        Activity activity() {
            return controller.get();
        }
    }

    private static final class Request {
        final Intent intent;
        final ActivityInfo info;
        final Activity caller;
        final String who;
        final int requestCode;

        Request(Intent intent, ActivityInfo info, Activity caller, String who, int requestCode) {
            this.intent = intent;
            this.info = info;
            this.caller = caller;
            this.who = who;
            this.requestCode = requestCode;
        }
    }

    /** Asks for an activity; false when no activity of the app takes this intent. */
    boolean request(Intent intent, Activity caller, String who, int requestCode) {
        ActivityInfo info = intent.resolveActivityInfo(application.getPackageManager(), 0);
        if (info == null || requests.size() >= REQUESTS_MAX) {
            return false;
        }
        requests.add(new Request(new Intent(intent), info, caller, who, requestCode));
        return true;
    }

    /** Asks for an activity as `am start` does; the first one of the app when none is named. */
    boolean requestByName(String activity) {
        Intent intent;
        if (activity == null) {
            intent = application.getPackageManager().getLaunchIntentForPackage(application.getPackageName());
            if (intent == null) {
                return false;
            }
            if (!records.isEmpty()) {
                // The task comes to the front as it was.
                home = false;
                homeRequested = false;
                resumeTop();
                return true;
            }
        } else {
            String name = activity.startsWith(".") ? application.getPackageName() + activity : activity;
            intent = new Intent().setComponent(new ComponentName(application.getPackageName(), name));
        }
        intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK);
        return request(intent, null, null, -1);
    }

    /** Asks for the home screen, which covers the whole task. */
    public void requestHome() {
        homeRequested = true;
    }

    /** Leaves an activity by Back: the first one of a task stays in the background, as from Android 12 on. */
    public void backOut(Activity activity) {
        Record record = find(activity);
        if (record != null && records.indexOf(record) == 0 && isLauncher(activity)) {
            requestHome();
        } else {
            activity.finish();
        }
    }

    public boolean isRoot(Activity activity) {
        return records.isEmpty() || records.get(0).activity() == activity;
    }

    public void finishAll() {
        for (Record record : records) {
            record.activity().finish();
        }
    }

    /** Carries out what was asked for; true when something changed. */
    boolean settle() {
        boolean changed = false;
        for (int step = 0; step < REQUESTS_MAX; step++) {
            if (!finishOne() && !startOne() && !goHome()) {
                return changed;
            }
            changed = true;
        }
        return changed;
    }

    private boolean goHome() {
        if (!homeRequested) {
            return false;
        }
        homeRequested = false;
        home = true;
        Record top = top();
        if (top != null) {
            top.controller.userLeaving();
            pause(top);
            for (Record record : records) {
                stop(record);
            }
        }
        return true;
    }

    private boolean startOne() {
        Request request = requests.poll();
        if (request == null) {
            return false;
        }
        home = false;
        homeRequested = false;
        Record before = top();
        if (reuse(request, before)) {
            return true;
        }
        if (records.size() >= DEPTH_MAX) {
            throw new IllegalStateException("more than " + DEPTH_MAX + " activities in a task");
        }
        if (before != null) {
            pause(before);
        }
        String name = request.info.targetActivity != null ? request.info.targetActivity : request.info.name;
        Record record = create(request, name);
        records.add(record);
        Journal.started(record.component.getClassName(), request.caller != null);
        if (!record.activity().isFinishing()) {
            show(record);
            if (before != null && coversScreen(record.activity())) {
                stopBelow(record);
            }
        }
        return true;
    }

    private Record create(Request request, String name) {
        Class<? extends Activity> type;
        try {
            type = Class.forName(name, true, getClass().getClassLoader()).asSubclass(Activity.class);
        } catch (ClassNotFoundException missing) {
            throw new RuntimeException("Unable to instantiate activity " + name, missing);
        }
        Intent intent = request.intent;
        ComponentName component = new ComponentName(application.getPackageName(), request.info.name);
        intent.setComponent(component);
        ActivityController<? extends Activity> controller = Robolectric.buildActivity(type, intent);
        Record to = request.requestCode >= 0 ? find(request.caller) : null;
        Record record = new Record(controller, component, to, request);
        controller.create();
        return record;
    }

    private void show(Record record) {
        record.controller.start().postCreate(null).resume().postResume();
        if (!record.activity().isFinishing()) {
            makeVisible(record);
        }
        record.controller.topActivityResumed(true);
        record.resumed = true;
    }

    private static void makeVisible(Record record) {
        Activity activity = record.activity();
        if (activity.getWindow() == null) {
            return;
        }
        if (!ReflectionHelpers.<Boolean>getField(activity, "mVisibleFromClient")) {
            return;
        }
        // As ActivityThread.handleResumeActivity does.
        activity.getWindow().getAttributes().type = android.view.WindowManager.LayoutParams.TYPE_BASE_APPLICATION;
        ReflectionHelpers.setField(activity, "mDecor", activity.getWindow().getDecorView());
        ReflectionHelpers.callInstanceMethod(activity, "makeVisible");
    }

    /** Uses an activity that is there, if its launch mode or the intent's flags say so. */
    private boolean reuse(Request request, Record top) {
        int flags = request.intent.getFlags();
        int mode = request.info.launchMode;
        boolean singleTask =
                mode == ActivityInfo.LAUNCH_SINGLE_TASK || mode == ActivityInfo.LAUNCH_SINGLE_INSTANCE;
        boolean singleTop =
                singleTask || mode == ActivityInfo.LAUNCH_SINGLE_TOP || has(flags, Intent.FLAG_ACTIVITY_SINGLE_TOP);
        if (has(flags, Intent.FLAG_ACTIVITY_CLEAR_TASK)) {
            for (Record record : records) {
                record.activity().finish();
            }
            return false;
        }
        Record same = null;
        for (Record record : records) {
            if (record.component.getClassName().equals(request.info.name) && !record.activity().isFinishing()) {
                same = record;
            }
        }
        if (same == null) {
            return false;
        }
        boolean clears = singleTask || has(flags, Intent.FLAG_ACTIVITY_CLEAR_TOP);
        if (clears) {
            for (Record above : records.subList(records.indexOf(same) + 1, records.size())) {
                above.activity().finish();
            }
            if (!singleTop) {
                same.activity().finish();
                return false;
            }
        } else if (has(flags, Intent.FLAG_ACTIVITY_REORDER_TO_FRONT)) {
            records.remove(same);
            records.add(same);
            if (top != null && top != same) {
                pause(top);
            }
        } else if (!singleTop || same != top) {
            return false;
        }
        if (same.resumed) {
            pause(same);
        }
        same.controller.newIntent(request.intent);
        while (finishOne()) {
            // What stood above it goes first.
        }
        resumeTop();
        return true;
    }

    /** Ends one activity that has called finish. */
    private boolean finishOne() {
        for (int i = records.size() - 1; i >= 0; i--) {
            Record record = records.get(i);
            if (record.activity().isFinishing()) {
                boolean wasTop = record == top();
                if (record.resumed) {
                    pause(record);
                }
                records.remove(i);
                deliver(record);
                if (wasTop && requests.isEmpty()) {
                    resumeTop();
                }
                stop(record);
                record.controller.destroy();
                return true;
            }
        }
        return false;
    }

    private void deliver(Record record) {
        Record to = record.resultTo;
        if (to == null || !records.contains(to)) {
            return;
        }
        int code = ReflectionHelpers.<Integer>getField(record.activity(), "mResultCode");
        Intent data = ReflectionHelpers.getField(record.activity(), "mResultData");
        ReflectionHelpers.callInstanceMethod(
                Activity.class,
                to.activity(),
                "dispatchActivityResult",
                ClassParameter.from(String.class, record.resultWho),
                ClassParameter.from(int.class, record.requestCode),
                ClassParameter.from(int.class, code),
                ClassParameter.from(Intent.class, data),
                ClassParameter.from(String.class, "result"));
    }

    private void resumeTop() {
        Record top = top();
        if (top == null) {
            home = true;
            return;
        }
        if (home || top.resumed) {
            return;
        }
        for (Record record : visibleRecords()) {
            if (record.stopped) {
                record.controller.restart().start();
                record.stopped = false;
                makeVisible(record);
            }
        }
        top.controller.resume().postResume().topActivityResumed(true);
        top.resumed = true;
        makeVisible(top);
    }

    private void pause(Record record) {
        if (record.resumed) {
            record.controller.topActivityResumed(false);
            record.controller.pause();
            record.resumed = false;
        }
    }

    private void stopBelow(Record top) {
        for (Record record : records) {
            if (record == top) {
                return;
            }
            stop(record);
        }
    }

    private void stop(Record record) {
        if (!record.stopped) {
            if (!record.activity().isFinishing()) {
                record.controller.saveInstanceState(new Bundle());
            }
            record.controller.stop();
            record.stopped = true;
            View decor = ReflectionHelpers.getField(record.activity(), "mDecor");
            if (decor != null) {
                decor.setVisibility(View.INVISIBLE);
            }
        }
    }

    /** Forgets every activity at once, as when the process dies: no method of theirs is called. */
    void die() {
        requests.clear();
        homeRequested = false;
        records.clear();
        home = true;
        ProcessDeath.forgetEverything();
    }

    /** Gives a new configuration to all activities; those that do not handle it are made anew. */
    void configurationChanged(Configuration configuration) {
        for (Record record : new ArrayList<>(records)) {
            record.controller.configurationChange(configuration);
            makeVisible(record);
            if (record.stopped) {
                View decor = ReflectionHelpers.getField(record.activity(), "mDecor");
                decor.setVisibility(View.INVISIBLE);
            }
        }
    }

    private static boolean has(int flags, int flag) {
        return (flags & flag) != 0;
    }

    private boolean isLauncher(Activity activity) {
        Intent intent = application.getPackageManager().getLaunchIntentForPackage(application.getPackageName());
        return intent != null
                && intent.getComponent() != null
                && intent.getComponent().getClassName().equals(activity.getClass().getName());
    }

    private Record find(Activity activity) {
        for (Record record : records) {
            if (record.activity() == activity) {
                return record;
            }
        }
        return null;
    }

    private Record top() {
        return records.isEmpty() ? null : records.get(records.size() - 1);
    }

    /** True if nothing below the activity can be seen. */
    static boolean coversScreen(Activity activity) {
        TypedArray style = activity.obtainStyledAttributes(com.android.internal.R.styleable.Window);
        boolean covers = !ActivityInfo.isTranslucentOrFloating(style);
        style.recycle();
        return covers;
    }

    private List<Record> visibleRecords() {
        List<Record> visible = new ArrayList<>();
        for (int i = records.size() - 1; i >= 0; i--) {
            visible.add(records.get(i));
            if (coversScreen(records.get(i).activity())) {
                break;
            }
        }
        Collections.reverse(visible);
        return visible;
    }

    /** Returns the activities that can be seen, the top one last; none while the home screen is in front. */
    List<Activity> visible() {
        List<Activity> visible = new ArrayList<>();
        if (!home) {
            for (Record record : visibleRecords()) {
                visible.add(record.activity());
            }
        }
        return visible;
    }

    /** Returns the class names of the task's activities, the top one last. */
    List<String> names() {
        List<String> names = new ArrayList<>();
        for (Record record : records) {
            names.add(record.component.getClassName());
        }
        return names;
    }

    boolean isHome() {
        return home || records.isEmpty();
    }

    String frontName() {
        return top() == null ? "" : top().component.getClassName();
    }
}
