package dev.sluice.servlet.matrix;

import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.protocol.http2.Http2UpgradeHandler;
import io.undertow.servlet.Servlets;
import io.undertow.servlet.api.DeploymentInfo;
import io.undertow.servlet.api.DeploymentManager;
import java.nio.file.Path;

/** The main class for Undertow, which has no distribution. Arguments: port, context path, directory. */
final class UndertowHost {
    private UndertowHost() {}

    public static void main(String[] arguments) throws Exception {
        DeploymentInfo deployment = Servlets.deployment()
                .setClassLoader(MatrixApp.class.getClassLoader())
                .setContextPath(arguments[1])
                .setDeploymentName("matrix")
                .setTempDir(Path.of(arguments[2]))
                .addListener(Servlets.listener(MatrixApp.class))
                .addErrorPage(Servlets.errorPage("/error"));
        DeploymentManager manager = Servlets.newContainer().addDeployment(deployment);
        manager.deploy();
        Undertow.builder()
                .addHttpListener(Integer.parseInt(arguments[0]), "127.0.0.1")
                .setServerOption(UndertowOptions.ENABLE_HTTP2, true)
                .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, -1L)
                .setHandler(new Http2UpgradeHandler(Handlers.path().addPrefixPath(arguments[1], manager.start())))
                .build()
                .start();
    }
}
