package dev.sluice.form.storage;

import dev.sluice.PartHead;

/** A complete part that the form stores. */
public record StoredPart(PartHead head, StoredContent content) {}
