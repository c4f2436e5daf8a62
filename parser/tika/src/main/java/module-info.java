/** Detection of a part's media type from its first bytes, with Apache Tika. */
module dev.sluice.tika {
    requires transitive dev.sluice;
    requires org.apache.tika.core;
    requires java.sql; // like java.xml, used by Tika, which is not a named module and cannot declare it
    requires java.xml;
    requires static transitive org.jspecify;

    exports dev.sluice.tika;
}
