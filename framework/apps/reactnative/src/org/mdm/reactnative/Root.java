package org.mdm.reactnative;

import android.content.Context;
import android.view.MotionEvent;
import android.view.View;
import com.facebook.react.uimanager.RootView;
import com.facebook.react.views.view.ReactViewGroup;

/** Stands where React Native's root is; it would tell JavaScript of touches. */
final class Root extends ReactViewGroup implements RootView {
    Root(Context context) {
        super(context);
    }

    @Override
    public void onChildStartedNativeGesture(View child, MotionEvent event) {}

    @Override
    public void onChildEndedNativeGesture(View child, MotionEvent event) {}

    @Override
    public void handleException(Throwable thrown) {
        throw new IllegalStateException(thrown);
    }
}
