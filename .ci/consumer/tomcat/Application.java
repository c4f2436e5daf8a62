package org.example;

import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Embedded Tomcat with the filter of the README, and an upload to it. */
public class Application {
    private static final Logger LOG = Logger.getLogger("org.apache");

    public static void main(String[] args) throws Exception {
        LOG.setLevel(Level.SEVERE);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[0]);
        tomcat.setPort(0);
        Context application = tomcat.addContext("", args[0]);
        Tomcat.addServlet(application, "uploads", new Uploads());
        application.addServletMappingDecoded("/upload", "uploads");
        application.addServletContainerInitializer((classes, context) -> register(context), null);
        tomcat.getConnector();
        tomcat.start();
        URI root = URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort());
        Uploading.expect(root.resolve("/upload"), 100_000, 200, "one 100000");
        Uploading.expect(root.resolve("/upload"), 101 << 20, 413, "maxBodyBytes");
        tomcat.stop();
        tomcat.destroy();
    }

    private static void register(ServletContext context) {
        // README
    }

    private static final class Uploads extends HttpServlet {
        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            response.getWriter().print(request.getParameter("title") + " " + request.getPart("file").getSize());
        }
    }
}
