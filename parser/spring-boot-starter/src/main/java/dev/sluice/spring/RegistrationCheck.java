package dev.sluice.spring;

import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.Collections;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.servlet.FilterRegistrationBean;

/** A check at startup that warns about a {@link SluiceFilter} that the application registers in the wrong place. */
record RegistrationCheck(ListableBeanFactory beans) implements SmartInitializingSingleton {
    private static final Log LOG = LogFactory.getLog(RegistrationCheck.class);

    @Override
    public void afterSingletonsInstantiated() {
        Set<Filter> registered = Collections.newSetFromMap(new IdentityHashMap<>());
        beans.getBeansOfType(FilterRegistrationBean.class, false, false).forEach((name, each) -> {
            registered.add(each.getFilter());
            if (each.getFilter() instanceof SluiceFilter && each.isEnabled()) {
                check(name, each);
            }
        });
        for (Map.Entry<String, SluiceFilter> each :
                beans.getBeansOfType(SluiceFilter.class, false, false).entrySet()) {
            if (!registered.contains(each.getValue())) {
                LOG.warn("the bean " + each.getKey()
                        + " is a SluiceFilter that Spring Boot maps after all other filters, including Spring"
                        + " Security's, and to the dispatcher type REQUEST only. Remove the bean: the starter registers"
                        + " a filter and reads sluice.* properties. Or replace the bean with a FilterRegistrationBean whose"
                        + " bean name is sluiceFilter, with the order " + SluiceAutoConfiguration.ORDER
                        + " and all dispatcher types");
            }
        }
    }

    private static void check(String name, FilterRegistrationBean<?> registration) {
        if (registration.getOrder() >= SluiceAutoConfiguration.SECURITY_ORDER) {
            LOG.warn("the FilterRegistrationBean " + name + " maps a SluiceFilter after Spring Security, which reads"
                    + " parameters. Call setOrder(" + SluiceAutoConfiguration.ORDER + ")");
        }
        Set<DispatcherType> types = registration.determineDispatcherTypes();
        if (!types.containsAll(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR))) {
            LOG.warn("the FilterRegistrationBean " + name + " maps a SluiceFilter only to " + types
                    + ", but it needs REQUEST, ASYNC and ERROR: without ERROR, for example, error pages see no form"
                    + " fields. Call setDispatcherTypes(EnumSet.allOf(DispatcherType.class))");
        }
    }
}
