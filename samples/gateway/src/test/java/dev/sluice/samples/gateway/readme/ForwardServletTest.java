package dev.sluice.samples.gateway.readme;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.samples.gateway.ForwardingContract;
import dev.sluice.servlet.SluiceFilter;
import java.net.URI;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.junit.jupiter.api.io.TempDir;

class ForwardServletTest extends ForwardingContract {
    /** The silenced logger of Tomcat, which would log each start and stop. */
    private static final Logger TOMCAT = Logger.getLogger("org.apache");

    @TempDir
    Path directory;

    private final MemoryBudget memory = MemoryBudget.of(1 << 24);
    private Tomcat tomcat;

    @Override
    protected URI start(URI upstream) throws Exception {
        FormOptions options = FormOptions.inMemory(memory)
                .unlimitedBodyBytes()
                .maxSinkWait(MAX_WAIT)
                .build();
        TOMCAT.setLevel(Level.SEVERE);
        tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", directory.toString());
        FilterDef filter = new FilterDef();
        filter.setFilterName("multipart");
        filter.setFilter(SluiceFilter.of(options));
        context.addFilterDef(filter);
        FilterMap paths = new FilterMap();
        paths.setFilterName("multipart");
        paths.addURLPattern("/*");
        context.addFilterMap(paths);
        Tomcat.addServlet(context, "forward", new ForwardServlet(upstream)).addMapping("/upload");
        tomcat.start();
        return URI.create("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/upload");
    }

    /** The client of the JDK reads the response after it has sent the body. */
    @Override
    protected boolean noticesEarlyResponses() {
        return false;
    }

    @Override
    protected void stop() throws Exception {
        tomcat.stop();
        tomcat.destroy();
    }

    @Override
    protected long usedMemory() {
        return memory.used();
    }
}
