package mdm.helper;

/** The size of the default display as it is turned, and how it is turned (0 to 3, quarter turns). */
public final class Screen {
    public final int width;
    public final int height;
    public final int rotation;

    public Screen(int width, int height, int rotation) {
        this.width = width;
        this.height = height;
        this.rotation = rotation;
    }
}
