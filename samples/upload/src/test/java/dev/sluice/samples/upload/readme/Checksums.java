package dev.sluice.samples.upload.readme;

// @start region="checksums"
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

final class Checksums {
    /** Stores the files of a form, and returns the SHA-256 of each. */
    static Map<Path, String> receive(Forms forms, InputStream in, String type, Path directory) throws IOException {
        SpoolDirectory spool = forms.options().spool(); // null only for forms that stay in memory
        Map<Path, MessageDigest> digests = new LinkedHashMap<>();
        MultipartForm form = forms.read(
                in,
                type,
                options -> options.decider(part -> {
                    if (part.filename() == null || part.filename().isEmpty()) {
                        return PartDecision.store(); // a field, or an input that was left empty
                    }
                    Path target = directory.resolve(UUID.randomUUID().toString());
                    digests.put(target, sha256());
                    return PartDecision.to(PartSink.digest(digests.get(target), PartSink.toFile(spool, target)));
                }));
        form.close(); // the fields are not needed, and the files are in place
        Map<Path, String> checksums = new LinkedHashMap<>();
        digests.forEach((file, digest) -> checksums.put(file, HexFormat.of().formatHex(digest.digest())));
        return checksums;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
// @end
