package dev.sluice.bench.differential;

import dev.sluice.testkit.Installed;
import java.nio.file.Path;
import java.util.Map;

/** The readers in other languages. All tests in this JVM share the processes, which exit with it. */
final class InstalledReaders {
    private static Map<Contender, ReaderProcess> processes;

    private InstalledReaders() {}

    /** Requires that the readers are installed, and returns their processes. */
    static synchronized Map<Contender, ReaderProcess> require() {
        Path folder = ReaderProcess.folder();
        Installed.require("readers in other languages", folder != null);
        if (processes == null) {
            processes = ReaderProcess.all(folder);
        }
        return processes;
    }
}
