package dev.sluice.samples.report;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads sizes such as {@code 512}, {@code 64K} and {@code 16G}. */
public final class SizeConverter implements ITypeConverter<Long> {
    private static final String UNITS = "KMGT";

    @Override
    public Long convert(String text) {
        String digits = text.toUpperCase(Locale.ROOT);
        int unit = digits.isEmpty() ? -1 : UNITS.indexOf(digits.charAt(digits.length() - 1));
        try {
            long number = Long.parseLong(unit < 0 ? digits : digits.substring(0, digits.length() - 1));
            if (number >= 0) {
                return Math.multiplyExact(number, 1L << (10 * (unit + 1)));
            }
        } catch (ArithmeticException | NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a size such as 512, 64K or 16G");
        }
        throw new TypeConversionException("'" + text + "' is less than 0");
    }
}
