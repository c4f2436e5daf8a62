package dev.sluice.samples.upload;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;

/** A key and a certificate for localhost that live as long as the process, made by the keytool of the JDK. */
final class LocalCertificate {
    private static final int PASSWORD_BYTES = 16;

    private LocalCertificate() {}

    /**
     * {@return the key and its certificate, which nobody but the client's user can trust}
     *
     * @throws IOException if there is no keytool, or it fails
     */
    static KeyManagerFactory make() throws IOException {
        byte[] random = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(random);
        String password = HexFormat.of().formatHex(random);
        Path directory = Files.createTempDirectory("sluice-tls");
        Path store = directory.resolve("localhost.p12");
        try {
            run(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-J-XX:TieredStopAtLevel=1", // it starts in half the time
                    "-J-XX:+UseSerialGC",
                    "-genkeypair",
                    "-alias",
                    "localhost",
                    "-dname",
                    "CN=localhost",
                    "-ext",
                    "SAN=dns:localhost,ip:127.0.0.1",
                    "-keyalg",
                    "EC",
                    "-validity",
                    "30",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    password));
            return load(store, password.toCharArray());
        } finally {
            Files.deleteIfExists(store);
            Files.delete(directory);
        }
    }

    private static void run(List<String> command) throws IOException {
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (InputStream out = keytool.getInputStream()) {
            String said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            if (keytool.waitFor() != 0) {
                throw new IOException("no certificate can be made: " + said.strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a certificate was made");
        }
    }

    private static KeyManagerFactory load(Path store, char[] password) throws IOException {
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, password);
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(keys, password);
            return factory;
        } catch (GeneralSecurityException e) {
            throw new IOException("the certificate cannot be used: " + e.getMessage(), e);
        }
    }
}
