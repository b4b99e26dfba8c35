// Drives the virtual iPhone's xcrun with node-simctl, unmodified: `node simctl.mjs LIBRARY UDID APP`, LIBRARY being node-simctl's index.js.
// Prints one line of JSON with what was seen; any error ends it with a code other than 0.
import {pathToFileURL} from 'node:url';

const [library, udid, app] = process.argv.slice(2);
const {Simctl} = await import(pathToFileURL(library));
const simctl = new Simctl({udid});
const seen = {};

const devices = await simctl.getDevices(null, 'iOS');
seen.device = Object.values(devices).flat().find((device) => device.udid === udid);
seen.runtime = await simctl.getRuntimeForPlatformVersionViaJson(seen.device.sdk, 'iOS');
seen.types = await simctl.getDeviceTypes();
seen.parsed = Object.values(await simctl.getDevicesByParsing('iOS')).flat().some((device) => device.udid === udid);
try {
  await simctl.bootDevice();
} catch (error) {
  seen.bootAgain = error.message;
}
await simctl.startBootMonitor({timeout: 10000});
try {
  await simctl.launchApp('com.example.hello');
} catch (error) {
  seen.notInstalled = error.message;
}
await simctl.installApp(app);
seen.launched = await simctl.launchApp('com.example.hello');
seen.container = await simctl.getAppContainer('com.example.hello', 'data');
await simctl.terminateApp('com.example.hello');
await simctl.removeApp('com.example.hello');
await simctl.setAppearance('dark');
seen.appearance = await simctl.getAppearance();
seen.contentSize = await simctl.getContentSize();
await simctl.setPasteboard('copied ✓');
seen.pasteboard = await simctl.getPasteboard();
await simctl.openUrl('shop://item/1');
await simctl.grantPermission('com.shop', 'photos');
await simctl.revokePermission('com.shop', 'photos');
await simctl.resetPermission('com.shop', 'photos');
await simctl.pushNotification({'Simulator Target Bundle': 'com.shop', aps: {alert: 'hi'}});
await simctl.setLocation('48.1', '11.5');
await simctl.clearLocation();
seen.screenshotBytes = Buffer.from(await simctl.getScreenshot(), 'base64').length;
seen.udidInside = (await simctl.getEnv('SIMULATOR_UDID')).trim();
await simctl.shutdownDevice();
try {
  await simctl.launchApp('com.shop');
} catch (error) {
  seen.shutDown = error.message;
}
await simctl.eraseDevice();
await simctl.bootDevice();
console.log(JSON.stringify(seen, null, 1));
