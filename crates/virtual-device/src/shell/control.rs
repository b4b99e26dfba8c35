//! The commands `if`, `for`, `while`, `until` and `case`.

use brush_parser::ast::{CaseClauseCommand, ForClauseCommand, IfClauseCommand, WhileOrUntilClauseCommand};

use super::execute::{ARGUMENT_BYTES_MAX, Flow, Shell};
use super::expand::wildcard;
use super::io::Io;

impl Shell {
    pub(super) async fn if_clause(&mut self, clause: &IfClauseCommand, io: &Io) -> Flow {
        let flow = self.decide(&clause.condition, io).await;
        if flow != Flow::Next {
            return flow;
        }
        if self.status == 0 {
            return self.list(&clause.then, io).await;
        }
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                let flow = self.decide(condition, io).await;
                if flow != Flow::Next {
                    return flow;
                }
                if self.status != 0 {
                    continue;
                }
            }
            return self.list(&other.body, io).await;
        }
        self.status = 0;
        Flow::Next
    }

    pub(super) async fn for_clause(&mut self, clause: &ForClauseCommand, io: &Io) -> Flow {
        let mut values = Vec::new();
        match &clause.values {
            None => values.clone_from(&self.arguments),
            Some(words) => {
                for word in words {
                    match self.fields(&word.value, io).await {
                        Ok(fields) => values.extend(fields),
                        Err(complaint) => return self.complain(&complaint, 1, io).await,
                    }
                    if values.iter().fold(0usize, |sum, v: &String| sum.saturating_add(v.len()))
                        > ARGUMENT_BYTES_MAX
                    {
                        return self.complain("Argument list too long", 1, io).await;
                    }
                }
            }
        }
        self.status = 0;
        for value in values {
            self.set(&clause.variable_name, value);
            match self.list(&clause.body.list, io).await {
                Flow::Next | Flow::Continue(1) => {}
                Flow::Break(1) => break,
                Flow::Break(n) => return Flow::Break(n - 1),
                Flow::Continue(n) => return Flow::Continue(n - 1),
                other => return other,
            }
        }
        Flow::Next
    }

    pub(super) async fn while_clause(
        &mut self,
        clause: &WhileOrUntilClauseCommand,
        wanted: bool,
        io: &Io,
    ) -> Flow {
        let mut status = 0;
        loop {
            let flow = self.decide(&clause.0, io).await;
            if flow != Flow::Next {
                return flow;
            }
            if (self.status == 0) != wanted {
                break;
            }
            match self.list(&clause.1.list, io).await {
                Flow::Next | Flow::Continue(1) => {}
                Flow::Break(1) => break,
                Flow::Break(n) => return Flow::Break(n - 1),
                Flow::Continue(n) => return Flow::Continue(n - 1),
                other => return other,
            }
            status = self.status;
            if !self.step().await {
                return Flow::Exit;
            }
        }
        self.status = status;
        Flow::Next
    }

    pub(super) async fn case_clause(&mut self, clause: &CaseClauseCommand, io: &Io) -> Flow {
        let value = match self.single(&clause.value.value, io).await {
            Ok(value) => value,
            Err(complaint) => return self.complain(&complaint, 1, io).await,
        };
        for item in &clause.cases {
            for pattern in &item.patterns {
                let Ok(pattern) = self.pattern(&pattern.value, io).await else { continue };
                if wildcard(&pattern, &value) {
                    // The commands still see the status of what ran before the `case`.
                    if let Some(list) = &item.cmd {
                        return self.list(list, io).await;
                    }
                    self.status = 0;
                    return Flow::Next;
                }
            }
        }
        self.status = 0;
        Flow::Next
    }
}
