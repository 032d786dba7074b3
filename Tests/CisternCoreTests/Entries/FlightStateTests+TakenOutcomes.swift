@testable import CisternCore

extension FlightState<Int, Int>.WaitDecision {
  /// Returns whether the waiter resumes with this outcome, which it can take without a suspension; nil for none.
  func resumes(with taken: FlightOutcome<Int>?) -> Bool {
    switch (self, taken) {
    case (.suspended, nil), (.resume(.failed), .failed?), (.resume(.timedOut), .timedOut?): true
    case (.resume(.lookAgain), .lookAgain?), (.resume(.absent), .absent?): true
    case (.resume(.value(let one)), .value(let other)?), (.resume(.early(let one)), .early(let other)?): one == other
    default: false
    }
  }
}
