package dev.sluice.servlet.container;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/** The code that a test runs for a request. */
public interface Work {
    void run(HttpServletRequest request, HttpServletResponse response) throws Exception;
}
