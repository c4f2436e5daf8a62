/** Micrometer meters for forms and object stores. */
module dev.sluice.micrometer {
    requires transitive dev.sluice;
    requires transitive micrometer.core;
    requires static transitive org.jspecify;

    exports dev.sluice.micrometer;
}
