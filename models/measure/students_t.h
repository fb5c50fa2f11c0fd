#pragma once

/// Student's t and the normal distribution, as tests of measured times need them.
namespace models::measure {

/// The normal distribution's share below z.
double normal_share(double z);
/// The chance of a t at least so far from 0, either way, with `degrees` of freedom (above 0, not always whole).
/// Source: incomplete beta function I_x(d/2, 1/2) at x = d / (d + t^2), continued fraction as in DLMF 8.17.22.
double student_t_p(double t, double degrees);
/// The t that is exceeded either way with chance `alpha` (0 to 1).
double student_t_critical(double alpha, double degrees);
/// The chance that (mean + sd Z) / S is above `least`, where Z is normal and S^2 is a chi-square of `degrees` over
/// them: the power of a t test, one way. Integrated over S by Simpson's rule. sd >= 0.
double t_power(double mean, double sd, double least, double degrees);

}  // namespace models::measure
