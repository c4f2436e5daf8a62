package dev.sluice.samples.servlet;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.form.MultipartForm;
import dev.sluice.samples.report.InspectionReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What both endpoints answer to a good form: the inspector's report of its body, and the parameters.
 *
 * @param report what is in the body
 * @param parameters of the query string, then the form's fields; of each name the values in this order
 */
@JsonPropertyOrder({"report", "parameters"})
record FormReport(@JsonUnwrapped InspectionReport report, Map<String, List<String>> parameters) {
    static FormReport of(List<InspectionReport.Part> parts, MultipartForm form, Map<String, List<String>> parameters) {
        List<InspectionReport.Deviation> deviations = InspectionReport.Deviation.of(form.deviations());
        return new FormReport(new InspectionReport(parts, deviations, form.bodyBytes(), null), parameters);
    }

    /** {@return the same in the shape of the answer; a new map that may be added to} */
    static Map<String, List<String>> parameters(Map<String, String[]> parameters) {
        Map<String, List<String>> result = new LinkedHashMap<>();
        parameters.forEach((name, values) -> result.put(name, new ArrayList<>(List.of(values))));
        return result;
    }
}
