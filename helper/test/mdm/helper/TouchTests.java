package mdm.helper;

import static mdm.helper.Tests.equal;
import static mdm.helper.Tests.refused;
import static mdm.helper.Tests.test;

import java.util.List;

/** From samples to the steps that MotionEvents are made of, and what is refused. */
final class TouchTests {
    private TouchTests() {}

    static void run() {
        test("a tap", () -> equal("0:down@0[0:10,20] 50:up@0[0:10,20]", plan(at(0, 0, 10, 20), at(50))));
        test("a finger that rests sends nothing", () -> equal("0:down@0[0:1,2] 30:move@0[0:5,2] 40:up@0[0:5,2]",
                plan(at(0, 0, 1, 2), at(10, 0, 1, 2), at(30, 0, 5, 2), at(40))));
        test("a pinch", () -> equal("0:down@0[0:1,1] 0:pointer-down@1[0:1,1 1:9,9] 16:move@0[0:2,2 1:8,8] "
                + "32:pointer-up@0[0:2,2 1:8,8] 32:up@0[1:8,8]",
                plan(at(0, 0, 1, 1, 1, 9, 9), at(16, 0, 2, 2, 1, 8, 8), at(32))));
        test("the first finger leaves before the second", () -> equal("0:down@0[3:1,1] 5:pointer-down@1[3:1,1 4:9,9] "
                + "9:pointer-up@0[3:1,1 4:9,9] 9:move@0[4:7,7] 12:up@0[4:7,7]",
                plan(at(0, 3, 1, 1), at(5, 3, 1, 1, 4, 9, 9), at(9, 4, 7, 7), at(12))));
        test("two taps in one request have two downs", TouchTests::twoTaps);
        test("what cannot be is refused", TouchTests::bad);
        test("keys", TouchTests::keys);
    }

    private static void twoTaps() throws Refusal {
        List<TouchPlan.Step> steps = TouchPlan.read(request(at(0, 0, 1, 1), at(40), at(100, 0, 1, 1), at(140)));
        equal("0 0 100 100", steps.get(0).downMs + " " + steps.get(1).downMs + " " + steps.get(2).downMs + " "
                + steps.get(3).downMs);
    }

    private static void bad() throws Exception {
        bad(request());
        bad(request(at(0, 0, 1, 1)));
        bad(request(at(10, 0, 1, 1), at(5)));
        bad(request(at(0, 0, 1, 1), at(60_001)));
        bad(request(at(0, 0, 1, 1, 0, 2, 2), at(5)));
        bad(request(at(0, 32, 1, 1), at(5)));
        bad(new Bytes().u16(1).u32(0).u8(11).toArray());
        bad(new Bytes().u16(2_001).toArray());
        bad(new Bytes().u16(1).u32(0).u8(0).u8(0).toArray());
        bad(new Bytes().u16(1).u32(0).u8(1).u8(0).u32(1).toArray());
    }

    private static void bad(byte[] request) throws Exception {
        refused(Refusal.BAD_REQUEST, () -> TouchPlan.read(request));
    }

    private static void keys() throws Exception {
        KeySender.Press press = KeySender.read(new Bytes().u16(1).u16(66).u32(1).u32(700).toArray()).get(0);
        equal("66 1 700", press.code + " " + press.meta + " " + press.holdMs);
        refused(Refusal.BAD_REQUEST, () -> KeySender.read(new Bytes().u16(0).toArray()));
        refused(Refusal.BAD_REQUEST, () -> KeySender.read(new Bytes().u16(501).toArray()));
        refused(Refusal.BAD_REQUEST, () -> KeySender.read(new Bytes().u16(1).u16(66).u32(0).u32(60_001).toArray()));
        refused(Refusal.BAD_REQUEST, () -> KeySender.read(new Bytes().u16(1).u16(66).u32(0).toArray()));
    }

    /** A sample: the time, and then id, x and y of each finger. */
    static int[] at(int... numbers) {
        return numbers;
    }

    static byte[] request(int[]... samples) {
        Bytes request = new Bytes().u16(samples.length);
        for (int[] sample : samples) {
            request.u32(sample[0]).u8(sample.length / 3);
            for (int at = 1; at < sample.length; at += 3) {
                request.u8(sample[at]).u32(sample[at + 1]).u32(sample[at + 2]);
            }
        }
        return request.toArray();
    }

    private static String plan(int[]... samples) throws Refusal {
        return describe(TouchPlan.read(request(samples)));
    }

    static String describe(List<TouchPlan.Step> steps) {
        String[] names = {"down", "up", "move", "cancel", "", "pointer-down", "pointer-up"};
        StringBuilder text = new StringBuilder();
        for (TouchPlan.Step step : steps) {
            StringBuilder fingers = new StringBuilder();
            for (TouchPlan.Finger finger : step.fingers) {
                fingers.append(" ").append(finger.id).append(":").append(finger.x).append(",").append(finger.y);
            }
            text.append(" ").append(step.atMs).append(":").append(names[step.action]).append("@")
                    .append(step.actionIndex).append("[").append(fingers.substring(1)).append("]");
        }
        return text.substring(1);
    }
}
