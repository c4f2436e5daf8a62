package dev.sluice.samples.servlet;

import dev.sluice.samples.report.Page;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

final class PageServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient Page page = Page.load(PageServlet.class, Map.of());

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/html; charset=utf-8");
        response.setHeader("Content-Security-Policy", page.contentSecurityPolicy());
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Referrer-Policy", "no-referrer");
        response.setContentLength(page.html().length);
        response.getOutputStream().write(page.html());
    }
}
