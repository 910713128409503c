//! completeness
