import com.android.apksig.ApkSigner;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/** Adds the dex file to the resources and signs the result with the debug key. */
public final class Pack {
    public static void main(String[] args) throws Exception {
        File unsigned = new File(args[3] + ".unsigned");
        pack(new File(args[0]), new File(args[1]), unsigned);
        sign(unsigned, new File(args[2]), new File(args[3]), Integer.parseInt(args[4]));
        Files.delete(unsigned.toPath());
    }

    private static void pack(File resources, File dex, File out) throws Exception {
        try (ZipInputStream from = new ZipInputStream(new FileInputStream(resources));
                ZipOutputStream to = new ZipOutputStream(new FileOutputStream(out))) {
            for (ZipEntry entry = from.getNextEntry(); entry != null; entry = from.getNextEntry()) {
                to.putNextEntry(new ZipEntry(entry.getName()));
                from.transferTo(to);
                to.closeEntry();
            }
            to.putNextEntry(new ZipEntry("classes.dex"));
            Files.copy(dex.toPath(), to);
            to.closeEntry();
        }
    }

    private static void sign(File unsigned, File keys, File out, int minSdk) throws Exception {
        char[] password = "android".toCharArray();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream from = new FileInputStream(keys)) {
            store.load(from, password);
        }
        PrivateKey key = (PrivateKey) store.getKey("androiddebugkey", password);
        X509Certificate certificate = (X509Certificate) store.getCertificate("androiddebugkey");
        ApkSigner.SignerConfig signer =
                new ApkSigner.SignerConfig.Builder("debug", key, List.of(certificate)).build();
        new ApkSigner.Builder(List.of(signer))
                .setInputApk(unsigned)
                .setOutputApk(out)
                .setMinSdkVersion(minSdk)
                .build()
                .sign();
    }
}
