module org.example.plain {
    requires dev.sluice;
    requires dev.sluice.netty;
}
