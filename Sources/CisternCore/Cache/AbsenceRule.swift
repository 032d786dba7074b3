/// The lifetime of known absence.
struct AbsenceRule<Value: Sendable>: Sendable {
  let absence: Absence<Value>
  let expiry: Expiry
}
