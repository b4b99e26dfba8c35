package org.mdm.reactnative;

import android.content.Context;
import com.facebook.react.bridge.Callback;
import com.facebook.react.bridge.CatalystInstance;
import com.facebook.react.bridge.JavaScriptContextHolder;
import com.facebook.react.bridge.JavaScriptModule;
import com.facebook.react.bridge.NativeModule;
import com.facebook.react.bridge.ReactApplicationContext;
import com.facebook.react.bridge.UIManager;
import com.facebook.react.turbomodule.core.interfaces.CallInvokerHolder;
import com.facebook.react.uimanager.events.EventDispatcher;
import com.facebook.react.uimanager.events.EventDispatcherProvider;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;

/** What React Native's views ask of their surroundings, where no engine for JavaScript runs. */
final class ContextWithoutScript extends ReactApplicationContext implements EventDispatcherProvider {
    ContextWithoutScript(Context base) {
        super(base);
    }

    /** Takes the events that JavaScript would get, and drops them. */
    @Override
    public EventDispatcher getEventDispatcher() {
        Class<?>[] types = {EventDispatcher.class};
        return (EventDispatcher)
                Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, arguments) -> null);
    }

    @Override
    public <T extends JavaScriptModule> T getJSModule(Class<T> type) {
        return null;
    }

    @Override
    public <T extends NativeModule> boolean hasNativeModule(Class<T> type) {
        return false;
    }

    @Override
    public Collection<NativeModule> getNativeModules() {
        return List.of();
    }

    @Override
    public <T extends NativeModule> T getNativeModule(Class<T> type) {
        return null;
    }

    @Override
    public NativeModule getNativeModule(String name) {
        return null;
    }

    @Override
    public CatalystInstance getCatalystInstance() {
        return null;
    }

    @Override
    public boolean hasActiveCatalystInstance() {
        return false;
    }

    @Override
    public boolean hasActiveReactInstance() {
        return false;
    }

    @Override
    public boolean hasCatalystInstance() {
        return false;
    }

    @Override
    public boolean hasReactInstance() {
        return false;
    }

    @Override
    public void destroy() {}

    @Override
    public void handleException(Exception thrown) {
        throw new IllegalStateException(thrown);
    }

    @Override
    public boolean isBridgeless() {
        return true;
    }

    @Override
    public JavaScriptContextHolder getJavaScriptContextHolder() {
        return null;
    }

    @Override
    public CallInvokerHolder getJSCallInvokerHolder() {
        return null;
    }

    @Override
    public UIManager getFabricUIManager() {
        return null;
    }

    @Override
    public String getSourceURL() {
        return null;
    }

    @Override
    public void registerSegment(int segment, String path, Callback callback) {}
}
