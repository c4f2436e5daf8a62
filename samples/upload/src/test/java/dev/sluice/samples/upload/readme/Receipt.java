package dev.sluice.samples.upload.readme;

/** The result of each endpoint on the migration page. */
record Receipt(String title, int files, long bytes) {}
