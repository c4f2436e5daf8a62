package dev.sluice.servlet.container;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

public interface Work {
    void run(HttpServletRequest request, HttpServletResponse response) throws Exception;
}
