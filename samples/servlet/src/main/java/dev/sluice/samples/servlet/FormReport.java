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
 * The response of both endpoints to a valid form: the inspector's report, and the parameters.
 *
 * @param report the report of the body
 * @param parameters the parameters by name: the values of the query string, then the values of the form's fields
 */
@JsonPropertyOrder({"report", "parameters"})
record FormReport(@JsonUnwrapped InspectionReport report, Map<String, List<String>> parameters) {
    static FormReport of(List<InspectionReport.Part> parts, MultipartForm form, Map<String, List<String>> parameters) {
        List<InspectionReport.Deviation> deviations = InspectionReport.Deviation.of(form.deviations());
        return new FormReport(new InspectionReport(parts, deviations, form.bodyBytes(), null), parameters);
    }

    /** {@return the parameters with their values as lists, as in the response; a new map that may be modified} */
    static Map<String, List<String>> parameters(Map<String, String[]> parameters) {
        Map<String, List<String>> result = new LinkedHashMap<>();
        parameters.forEach((name, values) -> result.put(name, new ArrayList<>(List.of(values))));
        return result;
    }
}
