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

/** Says at the start what is wrong with filters that the application registers itself. */
final class RegistrationCheck implements SmartInitializingSingleton {
    private static final Log LOG = LogFactory.getLog(RegistrationCheck.class);

    private final ListableBeanFactory beans;

    RegistrationCheck(ListableBeanFactory beans) {
        this.beans = beans;
    }

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
                        + " is a SluiceFilter that Spring Boot maps behind all other filters, including"
                        + " Spring Security's, and to requests alone: remove it, since there is one already, and set"
                        + " sluice.*; or make it a FilterRegistrationBean named sluiceFilter, with the order "
                        + SluiceAutoConfiguration.ORDER + " and all dispatcher types");
            }
        }
    }

    private static void check(String name, FilterRegistrationBean<?> registration) {
        if (registration.getOrder() >= SluiceAutoConfiguration.SECURITY_ORDER) {
            LOG.warn(
                    "the FilterRegistrationBean " + name + " maps a SluiceFilter behind Spring Security, which asks for"
                            + " parameters: setOrder(" + SluiceAutoConfiguration.ORDER + ")");
        }
        Set<DispatcherType> types = registration.determineDispatcherTypes();
        if (!types.containsAll(EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR))) {
            LOG.warn("the FilterRegistrationBean " + name + " maps a SluiceFilter to " + types + " alone, so that error"
                    + " pages see no fields: setDispatcherTypes(EnumSet.allOf(DispatcherType.class))");
        }
    }
}
