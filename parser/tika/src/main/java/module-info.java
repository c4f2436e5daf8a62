/** The media type of a part by its first bytes, through Apache Tika. */
module dev.sluice.tika {
    requires transitive dev.sluice;
    requires org.apache.tika.core;
    requires java.sql; // as java.xml: what Tika uses, and cannot say because it is no named module
    requires java.xml;
    requires static transitive org.jspecify;

    exports dev.sluice.tika;
}
