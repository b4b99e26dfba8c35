// Drives the framework phone with appium-adb, the part of Appium's driver that needs no server on the phone:
// `node appium_adb.mjs LIBRARY ADB SERIAL`, LIBRARY being appium-adb's index.js. Prints one line of JSON.
import {pathToFileURL} from 'node:url';

const APP = 'org.mdm.widgets';
const [library, program, serial] = process.argv.slice(2);
const {ADB} = await import(pathToFileURL(library));
const adb = new ADB({
  adbPort: Number(process.env.ANDROID_ADB_SERVER_PORT),
  executable: {path: program, defaultArgs: ['-P', process.env.ANDROID_ADB_SERVER_PORT]},
  sdkRoot: process.env.ANDROID_HOME,
});
const operations = [];

async function operation(name, work) {
  let failure = null;
  try {
    await work();
  } catch (error) {
    failure = String(error.stack ?? error).slice(0, 500);
  }
  operations.push({name, failure});
}

function check(condition, ...seen) {
  if (!condition) {
    throw new Error(seen.map(String).join(' ') || 'not so');
  }
}

await operation('devices', async () => {
  const found = await adb.getConnectedDevices();
  check(found.some(({udid, state}) => udid === serial && state === 'device'), JSON.stringify(found));
  adb.setDeviceId(serial);
});
await operation('api level, model, size, density', async () => {
  check((await adb.getApiLevel()) === 35, await adb.getApiLevel());
  check((await adb.getScreenSize()) === '1080x2400', await adb.getScreenSize());
  check((await adb.getScreenDensity()) > 0);
  check((await adb.getModel()).length > 0);
});
await operation('shell', async () => {
  check((await adb.shell(['echo', 'one two'])) === 'one two');
});
await operation('app installed', async () => {
  check(await adb.isAppInstalled(APP));
  check(!(await adb.isAppInstalled('com.example.missing')));
});
await operation('start an activity', async () => {
  await adb.startApp({pkg: APP, activity: '.MainActivity', waitPkg: APP, waitActivity: '.MainActivity', waitDuration: 20000});
  const {appPackage, appActivity} = await adb.getFocusedPackageAndActivity();
  check(appPackage === APP && appActivity === '.MainActivity', appPackage, appActivity);
});
await operation('process', async () => {
  check(await adb.processExists(APP));
});
await operation('keys and text', async () => {
  await adb.startApp({pkg: APP, activity: '.TextActivity', stopApp: false, waitDuration: 20000});
  const seen = await adb.shell(['uiautomator dump /sdcard/window.xml >/dev/null; cat /sdcard/window.xml']);
  const bounds = seen.match(/id\/empty"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"/).slice(1).map(Number);
  await adb.shell(['input', 'tap', String((bounds[0] + bounds[2]) / 2 | 0), String((bounds[1] + bounds[3]) / 2 | 0)]);
  check((await adb.isSoftKeyboardPresent()).isKeyboardShown, 'no keyboard');
  await adb.inputText('hello');
  await adb.keyevent(67);
  await adb.hideKeyboard();
  check(!(await adb.isSoftKeyboardPresent()).isKeyboardShown, 'the keyboard stays');
  const after = await adb.shell(['uiautomator dump /sdcard/window.xml >/dev/null; cat /sdcard/window.xml']);
  check(after.includes('text="hell"'), after);
});
await operation('back', async () => {
  await adb.back();
  const {appActivity} = await adb.getFocusedPackageAndActivity();
  check(appActivity === '.MainActivity', appActivity);
});
await operation('settings and locale', async () => {
  await adb.setSetting('global', 'window_animation_scale', '0');
  check((await adb.getSetting('global', 'window_animation_scale')) === '0');
  check((await adb.getDeviceLocale()).startsWith('en'), await adb.getDeviceLocale());
});
await operation('rotation', async () => {
  check((await adb.getDeviceProperty('ro.build.version.release')) === '15');
  check(await adb.isScreenLocked() === false);
});
await operation('push and pull', async () => {
  await adb.push(process.argv[1], '/data/local/tmp/script.mjs');
  check(await adb.fileExists('/data/local/tmp/script.mjs'));
  check((await adb.fileSize('/data/local/tmp/script.mjs')) > 100);
});
await operation('logcat', async () => {
  const log = await adb.adbExec(['logcat', '-d']);
  check(log.includes(APP), log.slice(0, 300));
});
await operation('stop', async () => {
  await adb.forceStop(APP);
  check(!(await adb.processExists(APP)));
});
console.log(JSON.stringify({operations}));
process.exit(0);
