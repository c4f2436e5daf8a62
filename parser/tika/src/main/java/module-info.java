/** Detection of a part's media type from its first bytes, with Apache Tika. */
module dev.sluice.tika {
    requires transitive dev.sluice;
    requires org.apache.tika.core;
    requires java.sql; // Tika uses this and java.xml, but its automatic module cannot require modules
    requires java.xml;
    requires static transitive org.jspecify;

    exports dev.sluice.tika;
}
