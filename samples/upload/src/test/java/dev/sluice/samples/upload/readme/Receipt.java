package dev.sluice.samples.upload.readme;

/** The answer of the endpoints on the page on migration. */
record Receipt(String title, int files, long bytes) {}
