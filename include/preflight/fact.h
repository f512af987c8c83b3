#pragma once
// The three answers a question about a node can have. They are different types on purpose: a caller has to say what it
// does with each of them, so "could not look" can never be taken for "is not there" or for "is fine".

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace preflight {

/// The node answered that the thing is not there (ENOENT, ENODEV, an interface without DCB, an unset variable).
struct Absent {
    /// What the kernel said where more than one "no" exists ("EOPNOTSUPP"); may be empty.
    std::string detail;

    bool operator==(const Absent&) const = default;
};

/// The node gave no answer. `error` is an errno name ("EACCES", "EIO") or, where no system call failed, a word of our
/// own ("malformed", "too-large", "not-captured", "not-asked", "timeout"). `cause` is one sentence for a person; it
/// names the place and never holds a value of an environment file.
struct Unreadable {
    std::string error;
    std::string cause;

    bool operator==(const Unreadable&) const = default;
};

/// A value, its absence, or the reason why neither is known.
template <class T>
class Fact {
public:
    using Value = T;

    Fact() : state_(Unreadable{"not-asked", "not asked"}) {}
    Fact(T value) : state_(std::move(value)) {}
    Fact(Absent absent) : state_(std::move(absent)) {}
    Fact(Unreadable unreadable) : state_(std::move(unreadable)) {}

    bool has() const { return std::holds_alternative<T>(state_); }
    bool absent() const { return std::holds_alternative<Absent>(state_); }
    bool unreadable() const { return std::holds_alternative<Unreadable>(state_); }
    explicit operator bool() const { return has(); }

    /// Only after has().
    const T& operator*() const { return std::get<T>(state_); }
    const T* operator->() const { return &std::get<T>(state_); }
    /// Only after unreadable().
    const Unreadable& why() const { return std::get<Unreadable>(state_); }
    /// Only after absent().
    const Absent& gone() const { return std::get<Absent>(state_); }

    /// The value, or `otherwise` when there is none; only where both other answers mean the same to the caller.
    T value_or(T otherwise) const { return has() ? std::get<T>(state_) : std::move(otherwise); }

    /// Applies `f` to the value; the other two answers pass through unchanged. `f` may return a plain value or a Fact.
    template <class F>
    auto then(F&& f) const {
        using R = std::invoke_result_t<F, const T&>;
        if constexpr (requires { typename R::Value; requires std::is_same_v<R, Fact<typename R::Value>>; }) {
            return has() ? f(**this) : R(other<R>());
        } else {
            return has() ? Fact<R>(f(**this)) : other<Fact<R>>();
        }
    }

    /// The same non-answer as a fact of another type; only when there is no value.
    template <class U>
    Fact<U> as() const {
        return other<Fact<U>>();
    }

    bool operator==(const Fact&) const = default;

private:
    template <class R>
    R other() const {
        if (absent()) return R(gone());
        return R(why());
    }

    std::variant<T, Absent, Unreadable> state_;
};

}  // namespace preflight
