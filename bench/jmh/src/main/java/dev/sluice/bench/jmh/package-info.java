/** The JMH benchmarks. JMH fills the fields of their state, so nothing is said about null here. */
package dev.sluice.bench.jmh;
